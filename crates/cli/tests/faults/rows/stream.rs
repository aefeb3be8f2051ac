//! Rows in which the stream between gateways loses servers.

use crate::{
    Failure,
    chain::{Chain, Plan},
    cse,
    nats::Cluster,
    row::{Row, Scale},
};

/// Kills the leader of the stream under load, and restarts it.
pub fn killed(scale: Scale) -> Result<Row, Failure> {
    let (kills, burst) = (scale.pick(1, 5), scale.pick(200, 600));
    let acme = cse::in_memory(scale);
    let mut cluster = Cluster::start(3, "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(cluster.context());
    let plan = Plan { application: "nats", stream: Some(cluster.urls()), ..Plan::default() };
    let chain = Chain::start(plan, acme.address)?;
    for kill in 0..kills {
        chain.fleet.release(burst);
        chain.wait_until_delivered(&acme, kill * burst + burst / 4);
        let leader = runtime.block_on(leader(&cluster))?;
        let node = cluster.find(&leader);
        cluster.kill(node);
        chain.wait_until_delivered(&acme, kill * burst + burst / 2);
        cluster.restart(node);
    }
    let mut row = chain.finish(&acme)?.row;
    row.details = format!("the leader of the stream, one of three servers, was killed {kills} times");
    Ok(row)
}

async fn leader(cluster: &Cluster) -> Result<String, Failure> {
    let mut stream = cluster.context().await.get_stream("DUNNAGE").await?;
    let info = stream.info().await?;
    Ok(info.cluster.as_ref().and_then(|cluster| cluster.leader.clone()).ok_or("the stream has no leader")?)
}
