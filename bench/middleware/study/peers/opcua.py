"""An OPC UA server with one variable, a ByteString that clients write. No security, no users."""

import asyncio
import logging

from asyncua import Server, ua

from .. import SERVER
from . import answer_in_thread

PORT = 4840
NODE = "ns=2;s=telemetry"


async def main() -> None:
    """Serves until the process ends."""
    logging.disable(logging.WARNING)
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://{SERVER}:{PORT}")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    await server.register_namespace("urn:telemetry")
    variable = await server.nodes.objects.add_variable(ua.NodeId.from_string(NODE), "telemetry", b"", ua.VariantType.ByteString)
    await variable.set_writable()
    loop = asyncio.get_running_loop()
    async with server:
        answer_in_thread(lambda: asyncio.run_coroutine_threadsafe(variable.read_value(), loop).result())
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
