import type dgram from 'node:dgram'
import { once } from 'node:events'
import type net from 'node:net'

export interface TcpAndUdp {
  tcp: net.Server
  udp: dgram.Socket
  port: number
}

/** Binds a new TCP server to a free port of 127.0.0.1 and a new UDP socket to the same number. Tries another port where
 *  a program uses the number for UDP. */
export async function bindTcpAndUdp(newTcp: () => net.Server, newUdp: () => dgram.Socket): Promise<TcpAndUdp> {
  for (;;) {
    const tcp = newTcp()
    await once(tcp.listen(0, '127.0.0.1'), 'listening')
    const { port } = tcp.address() as net.AddressInfo
    const udp = newUdp()
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isBound) return { tcp, udp, port }
    tcp.close()
  }
}
