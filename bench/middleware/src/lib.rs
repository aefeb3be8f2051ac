//! A link between two network namespaces, with delay and loss, that counts every packet. Linux' own emulator, netem, is missing in some
//! kernels, among them those of small virtual machines; TUN devices are not.

pub mod count;
pub mod link;
pub mod network;
pub mod packet;
