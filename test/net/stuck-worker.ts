/** An HTTPS thread that computes forever, or ends, for certain URLs; real otherwise. */
import { createExchange } from '../../src/net/https/exchange.ts'
import { serveHttps } from '../../src/net/https/worker.ts'
import { silentResolver } from '../support/silent-resolver.ts'

declare const self: Worker

const answer = serveHttps(
  (message, transfer = []) => self.postMessage(message, transfer),
  (kind) => {
    const { exchange } = createExchange({ ...kind, resolver: silentResolver, mayConnect: () => true })
    return async (job, hooks) => {
      if (job.url.endsWith('/exit')) process.exit(3)
      if (job.url.endsWith('/spin')) for (;;);
      if (job.url.endsWith('/spin-later')) {
        await Bun.sleep(30)
        hooks?.onWork?.()
        for (;;) /^(a+)+$/.test(`${'a'.repeat(60)}b`) // the engine aborts one after some time
      }
      return exchange(job, hooks)
    }
  },
)
self.onmessage = (event: MessageEvent) => answer(event.data)
