import type { Running } from './field/contender.ts'
import { contenders, inTurn } from './field/in-turn.ts'
import type { Figure } from './figures.ts'
import { authorsMail } from './inbound.ts'
import type { Part } from './part.ts'
import { until } from './process.ts'
import { TROUBLED_ZONE, troubledAddresses } from './trouble.ts'

/** Other mail servers on the same machine, one after another: `bun scripts/bench.ts --only field --data DIR`, as
 *  root. Missing ones are reported and skipped. On Debian 12, with none of them running afterwards:
 *
 *    apt-get install -y --no-install-recommends postfix opendkim libspf2-2 libldap-2.5-0 libmariadb3 libperl5.36 libpq5 \
 *      libnsl2 libidn12 libgnutls-dane0 libsasl2-2
 *    systemctl disable --now postfix opendkim
 *    adduser --system --group --no-create-home --allow-bad-names Debian-exim
 *    cd DIR && apt-get download exim4-daemon-heavy && dpkg -x exim4-daemon-heavy_*.deb .
 *    npm install Haraka@3.3.4 haraka-plugin-dkim@1.3.1 haraka-plugin-spf@1.3.0
 *
 *  Each has its own configuration and spool in the scratch folder, in a control group that ends all its processes. */
export const field: Part[] = [
  {
    name: 'field.sent',
    measure: (bench, binary) =>
      inTurn(bench, binary, 'sent', { manner: 'relay' }, async (contender, server, sent) => {
        await passOn(server, 20, contender.mails.warmUp)
        const cpuBefore = server.cpuSeconds()
        bench.note(contender, SENT, await passOn(server, 20, sent))
        bench.note(contender, CPU, ((server.cpuSeconds() - cpuBefore) / sent) * 1000)
      }),
  },
  {
    name: 'field.accepted',
    measure: (bench, binary) =>
      inTurn(bench, binary, 'accepted', { manner: 'hold' }, async (contender, server, accepted) => {
        await server.send(50, contender.mails.warmUp)
        bench.note(contender, ACCEPTED, (await server.send(50, accepted)).perSecond)
      }),
  },
  {
    name: 'field.backlog',
    measure: (bench, binary) => {
      const wishes = { manner: 'route', names: TROUBLED_ZONE } as const
      return inTurn(bench, binary, 'healthy', wishes, async (contender, server, healthy) => {
        await passOn(server, 20, contender.mails.warmUp)
        const alone = await passOn(server, 20, healthy)
        await server.sendTo(troubledAddresses(DEAD))
        const behind = await passOn(server, 20, healthy)
        bench.note(contender, BEHIND, behind)
        bench.note(contender, KEPT, behind / alone)
      })
    },
  },
  {
    name: 'field.inbound',
    measure: (bench, binary) => {
      const { small, zone: names } = authorsMail(bench.scratch)
      const wishes = { manner: 'check', names, mail: { file: small, to: 'inbox@bench.example' } } as const
      return inTurn(bench, binary, 'inbound', wishes, async (contender, server, inbound) => {
        await server.send(20, contender.mails.warmUp)
        bench.note(contender, INBOUND, (await server.send(20, inbound)).perSecond)
      })
    },
  },
]

const columns = contenders('').map(({ name }) => name)
const SENT: Figure = { what: 'sent end to end per second, 10 KB HTML, 20 connections', columns }
const CPU: Figure = { what: 'CPU seconds for 1,000 sent', columns }
const ACCEPTED: Figure = { what: 'accepted per second, durable, 50 connections, delivery held', columns }
const DEAD = 20_000
const BEHIND: Figure = { what: 'healthy mail sent per second behind 20,000 for dead destinations', columns }
const KEPT: Figure = { what: 'the same as a share of its rate without', columns }
const INBOUND: Figure = { what: 'inbound mail accepted per second, 10 KB, SPF and DKIM looked up', columns }

/** Sends that many mails → how many a second came out, until the last one or the time limit. */
async function passOn(server: Running, connections: number, count: number): Promise<number> {
  const before = await server.passedOn()
  const startedAt = performance.now()
  const past = () => performance.now() - startedAt
  const sent = server.send(connections, count)
  const isDone = until(async () => (await server.passedOn()) >= before + count || past() > LIMIT_MS)
  await Promise.all([isDone, Promise.race([sent, isDone])])
  sent.catch(() => {}) // the server ends before the mails beyond the time limit
  return (((await server.passedOn()) - before) / past()) * 1000
}

const LIMIT_MS = 30_000
