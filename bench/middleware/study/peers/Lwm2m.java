import java.util.List;
import java.util.Scanner;
import org.eclipse.leshan.core.endpoint.Protocol;
import org.eclipse.leshan.core.model.ObjectLoader;
import org.eclipse.leshan.core.model.ObjectModel;
import org.eclipse.leshan.core.model.ResourceModel;
import org.eclipse.leshan.core.node.LwM2mPath;
import org.eclipse.leshan.core.node.LwM2mResourceInstance;
import org.eclipse.leshan.core.node.TimestampedLwM2mNodes;
import org.eclipse.leshan.core.request.SendRequest;
import org.eclipse.leshan.server.LeshanServerBuilder;
import org.eclipse.leshan.server.californium.endpoint.CaliforniumServerEndpointsProvider;
import org.eclipse.leshan.server.model.VersionedModelProvider;
import org.eclipse.leshan.server.registration.Registration;
import org.eclipse.leshan.server.send.SendListener;

/** Leshan, which takes messages as instances of the object 19 (BinaryAppDataContainer). The argument is its address, HOST PORT. */
public class Lwm2m {
    private static final LwM2mPath DATA = new LwM2mPath(19, 0, 0, 0);

    private static volatile byte[] last = {};

    public static void main(String[] arguments) {
        var address = new java.net.InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        var endpoints = new CaliforniumServerEndpointsProvider.Builder().addEndpoint(address, Protocol.COAP).build();
        var server = new LeshanServerBuilder().setEndpointsProviders(endpoints).setObjectModelProvider(models()).build();
        server.getSendService().addListener(new Keep());
        server.start();
        System.out.println("ready");
        for (var lines = new Scanner(System.in); lines.hasNextLine(); lines.nextLine()) {
            System.out.println(java.util.HexFormat.of().formatHex(last));
        }
        server.destroy();
    }

    /** The objects that Leshan knows, and the one of the messages, which its library lacks. */
    private static VersionedModelProvider models() {
        List<ObjectModel> models = ObjectLoader.loadDefault();
        var data = new ResourceModel(0, "Data", ResourceModel.Operations.RW, true, true, ResourceModel.Type.OPAQUE, null, null, null);
        models.add(new ObjectModel(19, "BinaryAppDataContainer", null, "1.0", true, false, data));
        return new VersionedModelProvider(models);
    }

    private static class Keep implements SendListener {
        @Override
        public void dataReceived(Registration registration, TimestampedLwM2mNodes nodes, SendRequest request) {
            if (nodes.getNodes().get(DATA) instanceof LwM2mResourceInstance data) {
                last = (byte[]) data.getValue();
            }
        }

        @Override
        public void onError(Registration registration, String message, Exception error) {
            System.err.println(message + ": " + error);
        }
    }
}
