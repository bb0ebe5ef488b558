import { quantile } from '../figures.ts'
import { acceptedAt, DAY_MS, DAYS, idAt, messageFields, noise, recipient, type Sender } from './dataset.ts'
import type { Owner, Seeded } from './seed.ts'

/** Requests of each kind. */
const EACH = 30
/** A slow kind must not use up the time of the others. */
const ENOUGH_MS = 600

/** Every filter and search of messages and events with random values: common ones, rare ones and ones without a match, for
 *  a big organization and a small one, in turn on one connection → the p95 in ms of each kind, the slowest first. Throws
 *  when a response is not 200. */
export async function timeLists(http: string, seeded: Seeded): Promise<[kind: string, p95Ms: number][]> {
  const timed: [string, number][] = []
  for (const name of ['big', 'small'] as const) {
    const authorization = `Bearer ${seeded[name].key}`
    for (const [kind, path] of Object.entries(kindsOf(seeded, seeded[name]))) {
      const timesMs: number[] = []
      let spentMs = 0
      for (let round = 0; round < EACH && spentMs < ENOUGH_MS; round++) {
        const asked = path(noise(round * 101 + timed.length))
        const startedAt = performance.now()
        const response = await fetch(`http://${http}/v1/${asked}`, { headers: { authorization } })
        const body = await response.text()
        const tookMs = performance.now() - startedAt
        if (response.status === 403) continue // of another organization
        if (response.status === 400 && body.includes('no event that is still kept')) continue // retention removed it
        if (response.status !== 200) throw new Error(`${asked}: ${response.status} ${body}`)
        // The first of a kind is prepared and compiled.
        if (round > 0 || tookMs > 200) timesMs.push(tookMs)
        spentMs += tookMs
      }
      if (timesMs.length > 0) timed.push([`${name}: ${kind}`, quantile(timesMs, 0.95)])
    }
  }
  return timed.sort(([, a], [, b]) => b - a)
}

type Path = (random: number) => string

function kindsOf({ extent, seededAt }: Seeded, { senders }: Owner): Record<string, Path> {
  const total = extent.past + extent.queued
  const domainOf = (r: number): Sender => senders[r % senders.length]!
  const last = senders.at(-1)!
  const message = (r: number) => noise(r) % total
  const messageId = (n: number) => idAt('msg', acceptedAt(n, extent, seededAt), n)
  const cursor = (id: string) => Buffer.from(`\x01${id}`, 'latin1').toString('base64url')
  const iso = (at: number) => new Date(at).toISOString()
  const at = (r: number) => seededAt - (r % (DAYS * DAY_MS))
  const window = (r: number) => `created_after=${iso(at(r) - 3_600_000)}&created_before=${iso(at(r))}`
  const before = `created_before=${iso(seededAt - (DAYS - 0.01) * DAY_MS)}`
  const never = `created_before=${iso(seededAt - (DAYS + 1) * DAY_MS)}`
  const word = (r: number) => messageFields(r % total).subject.split(' ')[0]!
  const rare = (r: number) => ['kaleidoscope', 'zeppelin', 'marmalade', 'quixotic'][r % 4]!
  const to = (r: number) => recipient(message(r), extent)[0]
  const statuses = ['queued', 'scheduled', 'deferred', 'delivered', 'bounced', 'suppressed', 'cancelled', 'partial']
  const status = (r: number) => statuses[r % statuses.length]!
  const from = (r: number) => `hello@${domainOf(r).domain}`
  const rareFrom = (r: number) => `billing.rare@${domainOf(r).domain}`
  const template = (r: number) => idAt('tpl', 0, r % 50)
  const event = (r: number) => {
    const n = noise(r) % extent.events
    return idAt('evt', acceptedAt(Math.floor((n * extent.past) / extent.events), extent, seededAt) + 600, n)
  }
  const messages: Record<string, Path> = {
    newest: () => 'limit=100',
    'deep cursor': (r) => `limit=100&cursor=${cursor(messageId(message(r)))}`,
    status: (r) => `status=${status(r)}`,
    'status, deep cursor': (r) => `status=${status(r)}&cursor=${cursor(messageId(message(r)))}`,
    to: (r) => `to=${to(r)}`,
    'to unknown': (r) => `to=unknown${r}@d1.example`,
    from: (r) => `from=${from(r)}`,
    'from rare': (r) => `from=${rareFrom(r)}`,
    'from unknown': (r) => `from=x${r}@${domainOf(r).domain}`,
    subject: (r) => `subject=${word(r)}`,
    'subject rare': (r) => `subject=${rare(r)}`,
    'subject never': (r) => `subject=never${r}`,
    'subject within words': (r) => `subject=${rare(r).slice(2, 8)}`,
    tag: (r) => `tag=${word(r)}`,
    'tag rare': () => 'tag=rare',
    'tag never': (r) => `tag=never${r % 100}`,
    metadata: () => 'metadata[plan]=pro',
    'metadata of one': (r) => `metadata[order]=${message(r)}`,
    'metadata never': (r) => `metadata[order]=x${r}`,
    template_id: (r) => `template_id=${template(r)}`,
    'template_id never': (r) => `template_id=${idAt('tpl', 1, r)}`,
    domain_id: (r) => `domain_id=${domainOf(r).domainId}`,
    'domain_id rare': () => `domain_id=${last.domainId}`,
    'domain_id rare, deep cursor': (r) => `domain_id=${last.domainId}&cursor=${cursor(messageId(message(r)))}`,
    'mode live': () => 'mode=live',
    'mode test': () => 'mode=test',
    'created in an hour': window,
    'created first': () => before,
    'created never': () => never,
    'created since': (r) => `created_after=${iso(at(r))}`,
    'q one word': (r) => `q=${word(r)}`,
    'q two words': (r) => `q=${word(r)} ${word(r + 1)}`,
    'q rare': (r) => `q=${rare(r)}`,
    'q never': (r) => `q=never${r}`,
    'q address': (r) => `q=${to(r)}`,
    'q beginning': (r) => `q=${word(r).slice(0, 2)}`,
    'q beginning rare': (r) => `q=${rare(r).slice(0, 3)}`,
    'status and tag': (r) => `status=${status(r)}&tag=${word(r)}`,
    'status and from': (r) => `status=${status(r)}&from=${rareFrom(r)}`,
    'status and template': (r) => `status=${status(r)}&template_id=${template(r)}`,
    'status bounced and mode': () => 'status=bounced&mode=test',
    'from and hour': (r) => `from=${from(r)}&${window(r)}`,
    'from rare and since': (r) => `from=${rareFrom(r)}&created_after=${iso(at(r))}`,
    'template and hour': (r) => `template_id=${template(r)}&${window(r)}`,
    'test mode and domain': (r) => `mode=test&domain_id=${domainOf(r).domainId}`,
    'tag and domain rare': (r) => `tag=${word(r)}&domain_id=${last.domainId}`,
    'to and from': (r) => `to=${to(r)}&from=${from(r)}`,
    'to and tag': (r) => `to=${to(r)}&tag=${word(r)}`,
    'tag and hour': (r) => `tag=${word(r)}&${window(r)}`,
    'q and status': (r) => `q=${word(r)}&status=${status(r)}`,
    'q rare and tag': (r) => `q=${rare(r)}&tag=${word(r)}`,
    'q and hour': (r) => `q=${word(r)}&${window(r)}`,
    'metadata and hour': (r) => `metadata[order]=${message(r)}&${window(r)}`,
    'subject and hour': (r) => `subject=${word(r)}&${window(r)}`,
  }
  const events: Record<string, Path> = {
    newest: () => 'limit=100',
    'deep cursor': (r) => `limit=100&cursor=${cursor(event(r))}`,
    type: (r) => `type=${['message.delivered', 'message.opened', 'message.clicked'][r % 3]}`,
    'type rare': (r) => `type=${['message.complained', 'message.unsubscribed'][r % 2]}`,
    'type never': (r) => `type=${['quality.alert', 'message.bounced'][r % 2]}`,
    message_id: (r) => `message_id=${messageId(noise(r) % extent.past)}`,
    domain_id: (r) => `domain_id=${domainOf(r).domainId}`,
    'domain_id rare': () => `domain_id=${last.domainId}`,
    'mode test': () => 'mode=test',
    'created in an hour': window,
    'created first': () => before,
    'created never': () => never,
    'type rare in an hour': (r) => `type=message.complained&${window(r)}`,
    'type rare since': (r) => `type=message.complained&created_after=${iso(at(r))}`,
    'type and domain rare': () => `type=message.clicked&domain_id=${last.domainId}`,
    'type never of a domain': () => `type=message.bounced&domain_id=${last.domainId}`,
    'type rare in test mode': () => 'type=message.unsubscribed&mode=test',
    'after one': (r) => `after=${event(r)}&limit=100`,
    'after the beginning': () => 'after=&limit=100',
    'after one, type rare': (r) => `after=${event(r)}&type=message.complained`,
    'after one, type never': (r) => `after=${event(r)}&type=quality.alert`,
  }
  const of = (list: string, kinds: Record<string, Path>) =>
    Object.entries(kinds).map(([kind, query]) => [`${list} ${kind}`, (r: number) => `${list}?${query(r)}`])
  return Object.fromEntries([...of('messages', messages), ...of('events', events)])
}
