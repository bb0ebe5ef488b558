import { bodies } from '../bodies.ts'
import { deliver, load, startReceiver } from '../peers.ts'
import { create, openServer, type Server } from '../server.ts'
import type { Contender, Stage } from './contender.ts'

/** The built program with what `init` writes. Outgoing mail arrives by HTTP: it composes the mail, signs it twice,
 *  and records attempts and events. Inbound mail arrives by SMTP, gets a DMARC result too, is stored, and is posted
 *  to a webhook. */
export function ours(binary: string): Contender {
  return {
    name: 'Postrider',
    needs: () => ({ [binary]: 'bun scripts/build.ts' }),
    mails: { warmUp: 5_000, sent: 6_000, accepted: 20_000, healthy: 5_000, inbound: 5_000 },
    open: (stage) => open(binary, stage),
  }
}

async function open(binary: string, { folder, sink, names: zone, manner, mail }: Stage) {
  const isOpen = manner === 'check'
  const receiver = isOpen ? await startReceiver(folder) : null
  const server = await openServer(binary, {
    scratch: folder,
    sinkPort: sink.port,
    caFile: receiver?.caFile,
    zone,
    isOpen,
  })
  if (receiver !== null) await forwardTo(server, receiver.url)
  const body = manner === 'hold' ? bodies.held(folder) : bodies.mail(folder)
  return {
    send: (connections: number, count: number) =>
      isOpen ? deliver(server, connections, count, mail.file, mail.to) : load(server, connections, count, body),
    sendTo: async (addresses: string[]) => {
      for (let at = 0; at < addresses.length; at += 500) {
        await load(server, 1, 1, bodies.batchTo(folder, addresses.slice(at, at + 500)))
      }
    },
    passedOn: receiver?.posts ?? sink.mails,
    cpuSeconds: server.cpuSeconds,
    stop: async () => {
      await server.stop('SIGKILL') // otherwise it waits for peers that never answer
      receiver?.end()
    },
  }
}

function forwardTo(server: Server, url: string): Promise<unknown> {
  const action = { type: 'webhook', config: { url } }
  return create(server, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action })
}
