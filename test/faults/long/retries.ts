import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { look } from './ask.ts'
import { type Fault, unless } from './fault.ts'

const POSTS = 5

/** kill -9 between the posts of a webhook and between the attempts of a mail: the count continues. */
export const retries: Fault = {
  name: 'retries',
  needs: [],
  rounds: { long: 4, short: 4 },
  run: async ({ program }) => {
    const installation = await makeTestInstallation({ program })
    try {
      let server = await installation.serve()
      const crash = async () => {
        server.kill('SIGKILL')
        await exitOf(server)
        server = await installation.serve()
      }
      // biome-ignore lint/suspicious/noExplicitAny: whatever the program says
      const read = async (path: string): Promise<any> => (await installation.api('GET', path)).json()

      installation.receiver.script(500)
      const subscription = { url: installation.receiver.url, events: ['message.delivered'] }
      const webhook = (await (await installation.api('POST', '/v1/webhooks', subscription)).json()) as { id: string }
      installation.sink.answer = '451 4.3.0 not yet'
      const message = { from: 'us@example.com', to: 'retry@example.org', subject: 'retry', text: 'Hello' }
      const { id } = (await (await installation.api('POST', '/v1/send', message)).json()) as { id: string }
      const attemptsOf = async () => (await read(`/v1/messages/${id}/attempts`)).data.length as number
      let deferrals = 0
      for (let kills = 0; kills < 2; kills++) {
        await until('an attempt', async () => (await attemptsOf()) > deferrals)
        await crash()
        const now = await attemptsOf()
        if (now < deferrals + 1) throw new Error(`${now} attempts after ${deferrals}`)
        deferrals = now
      }
      installation.sink.answer = '250 ok'
      await until('the mail', () => installation.sink.mails.has('retry'))

      const posts = () => installation.receiver.requests.length
      const deliveryOf = async () => (await read(`/v1/webhooks/${webhook.id}/deliveries`)).data[0]
      for (let kills = 0; kills < POSTS - 1; kills++) {
        await until('a recorded post', async () => (await deliveryOf())?.attempts.length > kills)
        await crash()
      }
      await until('the last post', () => posts() >= POSTS)
      await Bun.sleep(3_000) // a sixth would have arrived
      const delivery = await deliveryOf()
      const { status } = await look(installation, `/v1/messages/${id}`)
      const attempts = await attemptsOf()
      server.kill('SIGTERM')
      await exitOf(server)
      const delivered = installation.sink.mails.get('retry')!.length
      return {
        figures: `${POSTS + 1} kills between attempts: ${posts()} posts, then ${delivery?.status}; mail deferred ${attempts - 1} times, delivered ${delivered} time`,
        broken: [
          ...unless(posts() === POSTS, `${POSTS} posts, not ${posts()}`),
          ...unless(delivery?.status === 'failed' && delivery?.attempts.length === POSTS, `failed after ${POSTS}`),
          ...unless(delivered === 1 && status === 200, 'delivered once'),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}
