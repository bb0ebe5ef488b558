import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { createVerp } from '../../src/mail/verp.ts'
import type { CheckResult } from '../../src/operating/health/check.ts'
import { createMintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { addKey } from '../support/keys.ts'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

/** Ownership of a name: two organizations on one server, over HTTP, SMTP and DNS. */

const DAY = 86_400_000
const PUBLIC = `post.${DOMAIN}`
const mintId = createMintId({ now: () => START, sleep: async () => {} }, systemRandom)

let remote: RemoteMx
let server: TestServer
const logged: string[] = []
beforeAll(async () => {
  remote = await startRemoteMx()
})
afterAll(() => remote.stop())
beforeEach(async () => {
  logged.length = 0
  server = await startTestServer({
    remote,
    log: createLog({
      clock: { now: () => START, sleep: async () => {} },
      level: 'info',
      format: 'json',
      write: (line) => void logged.push(line),
    }),
    config: {
      http: { listen: '127.0.0.1:0', public_url: `https://${PUBLIC}` },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
    },
  })
})
afterEach(() => server.close())

interface Tenant {
  organizationId: string
  ask(method: string, path: string, body?: unknown): Promise<Json>
}

/** Another organization with an admin key for an unproved claim. */
async function addTenant(name: string): Promise<Tenant> {
  const organizationId = mintId('org')
  await server.store().organizations.create({ id: organizationId, name, plan: 'enterprise', createdAt: START })
  const key = { id: mintId('key'), organizationId, domainId: 'dom_none', name, mode: 'live' as const }
  const { value } = await addKey(server.store(), { ...key, createdAt: START, permissions: ['admin'] })
  const authorization = { authorization: `Bearer ${value}` }
  return { organizationId, ask: (method, path, body) => server.ask(method, path, body, authorization) }
}

const owner = () => server.ask
const own = async () => (await server.read('/v1/domains')).data.find(({ name }: Json) => name === DOMAIN)

/** Publishes records of a domain in DNS, by purpose. */
function publish({ dns_records }: Json, ...purposes: string[]) {
  for (const { purpose, type, name, value, priority } of dns_records) {
    if (!purposes.includes(purpose)) continue
    server.zone.set(name, type, [type === 'MX' ? { preference: priority, exchange: value } : value])
  }
}
function unpublish({ dns_records }: Json, ...purposes: string[]) {
  for (const { purpose, name } of dns_records) if (purposes.includes(purpose)) server.zone.remove(name)
}

/** The reply of port 25 to RCPT TO. */
function rcpt(address: string): Promise<string> {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const said = ['EHLO mx.author.example', 'MAIL FROM:<bob@author.example>', `RCPT TO:<${address}>`, 'QUIT']
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host!)
    let text = ''
    let step = -1 // the greeting
    let answer = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\r\n')
      while (lines.length > 1) {
        const line = lines.shift()!
        if (!/^\d{3} /.test(line)) continue
        if (step === 2) answer = line
        step++
        if (step < said.length) socket.write(`${said[step]}\r\n`)
      }
      text = lines[0]!
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

const catchAll = { name: 'all', match: { type: 'catch_all' }, action: { type: 'store' } }

/** HTTP to the server under another host name. */
const at = (host: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`http://${server.running().listening.http}${path}`, {
    redirect: 'manual',
    headers: { host, connection: 'close', ...headers },
  })

// threat: server-name-claimed
test('a tenant cannot take a name of the server for its links', async () => {
  const domain = await own()
  for (const host of [`mail.${DOMAIN}`, `MAIL.${DOMAIN}`]) {
    const { status, body } = await owner()('PATCH', `/v1/domains/${domain.id}`, { tracking: { host } })
    expect([host, status, body.error.code, body.error.field]).toEqual([host, 409, 'conflict', 'tracking.host'])
  }
})

// threat: server-name-claimed
test('a tenant cannot add the server’s names or hosts of another tenant, in any form, nor receive mail there', async () => {
  const domain = await own()
  await owner()('PATCH', `/v1/domains/${domain.id}`, { tracking: { host: `links.${DOMAIN}` } })
  const evil = await addTenant('Evil')
  await evil.ask('POST', '/v1/inbound-routes', catchAll)
  const names = [
    `mail.${DOMAIN}`,
    `MAIL.${DOMAIN.toUpperCase()}.`,
    ` mail.${DOMAIN} `,
    `ｍａｉｌ.${DOMAIN}`,
    PUBLIC,
    DOMAIN,
    `bounces.${DOMAIN}`,
    `a.bounces.${DOMAIN}`,
    `links.${DOMAIN}`,
    `deep.below.links.${DOMAIN}`,
    `mta-sts.${DOMAIN}`,
    `x.mta-sts.${DOMAIN}`,
  ]
  for (const name of names) {
    const { status, body } = await evil.ask('POST', '/v1/domains', { name })
    expect([name, status, body.error.code]).toEqual([name, 409, 'conflict'])
    expect(body.error.message).not.toContain('Shop')
  }
  // A name below another one is open to any organization that proves it, but it cannot take a host in use.
  const below = await evil.ask('POST', '/v1/domains', { name: `team.${DOMAIN}` })
  expect([below.status, below.body.status]).toEqual([201, 'pending'])
  const parent = await evil.ask('POST', '/v1/domains', {
    name: 'corp.example',
    tracking: { host: 'links.corp.example' },
  })
  expect(parent.status).toBe(201)
  expect((await evil.ask('POST', '/v1/domains', { name: 'links.corp.example' })).status).toBe(409)
  expect((await evil.ask('POST', '/v1/domains', { name: 'x.example', server_name: true })).status).toBe(403)
  for (const host of [...names.filter((name) => name !== DOMAIN), `team.${DOMAIN}`, 'x.example']) {
    for (const local of ['admin', 'hostmaster', 'postmaster', 'abuse', 'fbl']) {
      const answer = await rcpt(`${local}@${host.trim().replace('ｍａｉｌ', 'mail').replace(/\.$/, '')}`)
      const isOwners = host === `bounces.${DOMAIN}` && !['admin', 'hostmaster'].includes(local)
      expect([host, local, answer.slice(0, 4)]).toEqual([host, local, isOwners ? '250 ' : '550 '])
    }
  }
  expect((await evil.ask('GET', '/v1/inbound-messages')).body.data).toEqual([])
}) // 65 SMTP dialogs

// threat: unproved-domain-receives
test('an unproved name receives nothing, tracks nothing and has no policy host', async () => {
  const evil = await addTenant('Evil')
  await evil.ask('POST', '/v1/inbound-routes', catchAll)
  const body = { name: 'victim.example', tracking: { opens: true, clicks: true, host: 'links.victim.example' } }
  const { body: claim } = await evil.ask('POST', '/v1/domains', body)
  server.zone.set('links.victim.example', 'CNAME', [`mail.${DOMAIN}`])
  server.zone.set('mta-sts.victim.example', 'CNAME', [PUBLIC])
  server.zone.set('victim.example', 'MX', [{ preference: 10, exchange: `mail.${DOMAIN}` }])
  const looked = (await evil.ask('POST', `/v1/domains/${claim.id}/verify`)).body
  expect([looked.status, looked.dns_records.find(({ purpose }: Json) => purpose === 'tracking').status]).toEqual([
    'pending',
    'valid',
  ])
  for (const local of ['admin', 'hostmaster', 'x']) {
    expect(await rcpt(`${local}@victim.example`)).toStartWith('550 5.7.1 ')
  }
  for (const local of ['abuse', 'fbl', 'complaints', 'b-x']) {
    expect(await rcpt(`${local}@bounces.victim.example`)).toStartWith('550 5.7.1 ')
  }
  expect((await at('mta-sts.victim.example', '/.well-known/mta-sts.txt')).status).toBe(404)
  const probe = await evil.ask('POST', '/v1/inbound-routes', { ...catchAll, name: 'b' })
  const tested = await evil.ask('POST', `/v1/inbound-routes/${probe.body.id}/test`, { to: 'a@victim.example' })
  expect(tested.body).toMatchObject({ taken_by: null, reason: expect.stringContaining('550 5.7.1') })
  // Test mail continues, with links of the server only; live mail does not.
  for (const mode of ['live', 'test'] as const) {
    const key = { id: mintId('key'), organizationId: evil.organizationId, domainId: claim.id, mode }
    const { value } = await addKey(server.store(), { ...key, name: mode, createdAt: START, permissions: ['admin'] })
    const headers = { authorization: `Bearer ${value}` }
    const mail = { from: 'a@victim.example', html: '<a href="https://x.example/">x</a>' }
    const { status, body } = await server.send(mail, headers)
    expect([mode, status]).toEqual([mode, mode === 'live' ? 422 : 202])
    if (mode === 'live') expect(body.error.code).toBe('domain_not_verified')
    else {
      const shown = (await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`, undefined, headers)).text
      expect(shown).toContain(PUBLIC)
      expect(shown).not.toContain('links.victim.example')
    }
  }
})

test('the ownership record is enough to receive, and the DKIM records are needed to send', async () => {
  const tenant = await addTenant('Inbound')
  await tenant.ask('POST', '/v1/inbound-routes', catchAll)
  const { body: claim } = await tenant.ask('POST', '/v1/domains', { name: 'in.example' })
  const record = claim.dns_records.find(({ purpose }: Json) => purpose === 'ownership')
  expect(record).toMatchObject({ type: 'TXT', name: '_postrider-verify.in.example', required: false })
  expect(await rcpt('a@in.example')).toStartWith('550 5.7.1 ')
  server.zone.fail(record.name, 'SERVFAIL')
  const verify = async () => (await tenant.ask('POST', `/v1/domains/${claim.id}/verify`)).body
  expect((await verify()).status).toBe('pending')
  server.zone.fail(record.name, null)
  server.zone.set(record.name, 'TXT', ['postrider-verify=00000000000000000000000000000000', record.value])
  expect(await verify()).toMatchObject({
    status: 'verified',
    sends_live: false,
    proved_by: 'txt',
    detail: expect.stringContaining('DKIM'),
  })
  expect(await rcpt('a@in.example')).toStartWith('250 ')
  const key = { id: mintId('key'), organizationId: tenant.organizationId, domainId: claim.id, mode: 'live' as const }
  const { value } = await addKey(server.store(), { ...key, name: 'k', createdAt: START, permissions: ['send'] })
  const send = () => server.send({ from: 'a@in.example' }, { authorization: `Bearer ${value}` })
  expect((await send()).body.error).toMatchObject({
    code: 'domain_not_verified',
    message: expect.stringContaining('DKIM'),
  })
  publish(claim, 'dkim')
  expect(await verify()).toMatchObject({ status: 'verified', proved_by: 'dkim', detail: null })
  expect((await send()).status).toBe(202)
  // Without the DKIM records it stays owned; after seven days it only receives.
  unpublish(claim, 'dkim')
  expect(await verify()).toMatchObject({
    status: 'verified',
    proved_by: 'dkim',
    proof_missing_since: expect.any(String),
  })
  expect((await send()).status).toBe(202)
  server.clock.jump(7 * DAY)
  expect(await verify()).toMatchObject({ status: 'verified', proved_by: 'txt', proof_missing_since: null })
  expect((await send()).status).toBe(422)
  expect(await rcpt('a@in.example')).toStartWith('250 ')
})

// threat: claim-of-a-name
test('the first of two claims that is proved owns the name, whose records say which', async () => {
  const [a, b] = [await addTenant('A'), await addTenant('B')]
  const { body: first } = await a.ask('POST', '/v1/domains', { name: 'name.example' })
  const { body: second, status } = await b.ask('POST', '/v1/domains', { name: 'NAME.example.' })
  expect(status).toBe(201)
  expect((await a.ask('POST', '/v1/domains', { name: 'name.example' })).status).toBe(409)
  const recordNames = (domain: Json) => domain.dns_records.filter(({ purpose }: Json) => purpose === 'dkim')
  const values = (domain: Json) => recordNames(domain).map(({ name, value }: Json) => `${name} ${value}`)
  expect(values(first).some((each: string) => values(second).includes(each))).toBe(false)

  publish(second, 'dkim')
  expect((await a.ask('POST', `/v1/domains/${first.id}/verify`)).body.status).toBe('pending')
  expect((await b.ask('POST', `/v1/domains/${second.id}/verify`)).body.status).toBe('verified')
  const lost = (await a.ask('GET', `/v1/domains/${first.id}`)).body
  expect(lost).toMatchObject({
    status: 'failed',
    detail: 'Another organization has verified this domain or a host under it.',
  })
  publish(first, 'dkim', 'ownership')
  expect((await a.ask('POST', `/v1/domains/${first.id}/verify`)).body.status).toBe('failed')
  const third = await addTenant('C')
  expect((await third.ask('POST', '/v1/domains', { name: 'name.example' })).status).toBe(409)

  // The mail goes to the owner's routes only.
  await a.ask('POST', '/v1/inbound-routes', catchAll)
  expect(await rcpt('x@name.example')).toStartWith('550 5.1.1 ')
  await b.ask('POST', '/v1/inbound-routes', catchAll)
  expect(await rcpt('x@name.example')).toStartWith('250 ')

  // When the owner gives up the name, the other claim proves it without further action.
  expect((await b.ask('DELETE', `/v1/domains/${second.id}`)).status).toBe(200)
  expect((await a.ask('GET', `/v1/domains/${first.id}`)).body).toMatchObject({ status: 'pending', detail: null })
  const statusOf = async () => (await a.ask('GET', `/v1/domains/${first.id}`)).body.status
  await untilInTime(server.clock, 'the proof to be seen', async () => (await statusOf()) === 'verified')
  expect((await b.ask('POST', '/v1/domains', { name: 'name.example' })).status).toBe(409)
})

test('two concurrent verifications give one owner and one failed claim', async () => {
  const [a, b] = [await addTenant('A'), await addTenant('B')]
  const claims = await Promise.all(
    [a, b].map(async (each) => (await each.ask('POST', '/v1/domains', { name: 'race.example' })).body),
  )
  for (const claim of claims) publish(claim, 'dkim', 'ownership')
  const answers = await Promise.all(
    [a, b].flatMap((each, at) => [1, 2].map(() => each.ask('POST', `/v1/domains/${claims[at].id}/verify`))),
  )
  for (const { status } of answers) expect(status).toBe(200)
  const states = await Promise.all(
    [a, b].map(async (each, at) => (await each.ask('GET', `/v1/domains/${claims[at].id}`)).body.status),
  )
  expect(states.toSorted()).toEqual(['failed', 'verified'])
})

// threat: proof-lost
test('a proof lost for seven days ends the ownership, with log, audit entry and health; it returns by itself', async () => {
  const domain = await own()
  await owner()('POST', '/v1/inbound-routes', catchAll)
  await owner()('POST', `/v1/domains/${domain.id}/verify`)
  const { body: sent } = await server.send({ unsubscribe: true })
  await server.ended(sent.id)
  const [delivery] = await server.store().messages.deliveries(sent.id)
  const verp = createVerp(await server.store().secret('verp', new Uint8Array(32)))
  const tagged = `${verp.encode(delivery!.id, 'bounce')}@${domain.return_path_host}`

  for (const { name } of domain.dns_records) server.zone.fail(name, 'SERVFAIL')
  const isDue = async () => (await server.store().domains.get(domain.id))!.nextCheckAt! > server.clock.now()
  const pass = async (ms: number) => {
    server.clock.jump(ms)
    await untilInTime(server.clock, 'the domain to be looked at', isDue)
  }
  await pass(9 * DAY)
  expect(await own()).toMatchObject({ status: 'verified', proof_missing_since: null })
  for (const { name } of domain.dns_records) server.zone.fail(name, null)
  unpublish(domain, 'dkim', 'ownership')
  await pass(DAY)
  const missing = await own()
  expect(missing).toMatchObject({ status: 'verified', detail: expect.stringContaining('missing from DNS since') })
  for (let day = 1; day < 7; day++) await pass(DAY - 3_600_000)
  expect((await own()).status).toBe('verified')
  expect(await rcpt(`x@${DOMAIN}`)).toStartWith('250 ')
  expect((await server.send()).status).toBe(202)

  await untilInTime(server.clock, 'the domain to fail', async () => {
    server.clock.jump(1_800_000)
    return (await own()).status === 'failed'
  })
  const since = Date.parse(missing.proof_missing_since)
  expect(server.clock.now() - since).toBeGreaterThanOrEqual(7 * DAY)
  expect((await own()).detail).toContain('no proof of ownership for seven days')
  expect(await rcpt(`x@${DOMAIN}`)).toStartWith('550 5.7.1 ')
  expect(await rcpt(`abuse@${domain.return_path_host}`)).toStartWith('550 5.7.1 ')
  expect(await rcpt(tagged)).toStartWith('250 ') // mail that was sent while it was owned
  expect((await server.send()).body.error.code).toBe('domain_not_verified')
  expect(logged.filter((line) => line.includes('domain verification lost'))).toHaveLength(1)
  const { data } = await server.read('/v1/audit-log?action=domains_lost')
  expect(data).toMatchObject([{ actor: { type: 'server' }, resource_id: domain.id, outcome: 'done' }])
  const { checkDomains } = await import('../../src/operating/health/domains.ts')
  const troubled = await server.store().domains.withoutProof(9)
  const looked = troubled.map(({ name, missingSince }) => ({ name, missingSince, wasVerified: false, wrong: [] }))
  const verdict = (await checkDomains(async () => looked)) as CheckResult
  expect([verdict.status, verdict.message.includes(DOMAIN)]).toEqual(['warn', true])

  publish(domain, 'dkim')
  await untilInTime(server.clock, 'the domain to be verified again', async () => {
    server.clock.jump(1_800_000)
    return (await own()).status === 'verified'
  })
  expect(await rcpt(`x@${DOMAIN}`)).toStartWith('250 ')
  expect((await server.read('/v1/audit-log?action=domains_proved')).data).toHaveLength(1)
  const stored = await server.store().domains.get(domain.id)
  expect(stored).toMatchObject({ missingSince: null, provedBy: 'dkim' })
})

test('scheduled mail is not sent in a name that was lost meanwhile', async () => {
  const at = new Date(server.clock.now() + 60_000).toISOString()
  const { body } = await server.send({ scheduled_at: at })
  unpublish(await own(), 'dkim', 'ownership')
  const { id, verifiedAt } = (await server.store().domains.findByName(DOMAIN))!
  await server.store().domains.recordCheck(id, { status: 'failed', verifiedAt, checkedAt: START, findings: [] })
  await server.clock.advance(61_000)
  const [recipient] = (await server.ended(body.id)).recipients
  expect(recipient).toMatchObject({ status: 'bounced', bounce_type: 'soft', bounce_code: '5.7.1', mx_host: null })
  expect(remote.mails.some(({ raw }) => raw.includes(body.id))).toBe(false)
})

describe('a click link', () => {
  const TARGET = 'https://shop.example/'
  /** A click link of a message of the organization of `server.ask`. */
  async function linkOf(host: string | null): Promise<{ path: string; deliveryId: string }> {
    const domain = await own()
    await owner()('PATCH', `/v1/domains/${domain.id}`, { tracking: { clicks: true, host } })
    if (host !== null) server.zone.set(host, 'CNAME', [`mail.${DOMAIN}`])
    expect((await owner()('POST', `/v1/domains/${domain.id}/verify`)).body.status).toBe('verified')
    const { body } = await server.send({ html: `<a href="${TARGET}">x</a>` })
    await server.ended(body.id)
    const [delivery] = await server.store().messages.deliveries(body.id)
    const raw = remote.mails.at(-1)!.raw.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
    const url = new URL(/href="(https:[^"]+)"/.exec(raw)![1]!)
    expect(url.hostname).toBe(host ?? PUBLIC)
    return { path: url.pathname, deliveryId: delivery!.id }
  }
  const other = async (name: string) => {
    const tenant = await addTenant('Other')
    const { body } = await tenant.ask('POST', '/v1/domains', { name })
    publish(body, 'dkim')
    expect((await tenant.ask('POST', `/v1/domains/${body.id}/verify`)).body.status).toBe('verified')
    return { tenant, domain: body }
  }

  // threat: foreign-tracking-host
  test('works under the host it was made for, and gets 404 under any other', async () => {
    const { path } = await linkOf(`links.${DOMAIN}`)
    await other('other.example')
    for (const host of [`links.${DOMAIN}`, `LINKS.${DOMAIN}.`, `links.${DOMAIN}:8443`]) {
      const answer = await at(host, path)
      expect([host, answer.status, answer.headers.get('location')]).toEqual([host, 302, TARGET])
    }
    for (const host of [PUBLIC, 'links.other.example', `x.links.${DOMAIN}`, DOMAIN, 'evil.example', '127.0.0.1', 'x']) {
      const answer = await at(host, path)
      expect([host, answer.status, answer.headers.get('location')]).toEqual([host, 404, null])
    }
    const { path: shared } = await linkOf(null)
    expect((await at(PUBLIC, shared)).status).toBe(302)
    for (const host of ['links.other.example', `links.${DOMAIN}`]) expect((await at(host, shared)).status).toBe(404)
  })

  test('works under an earlier tracking host of its domain, and ends with the ownership', async () => {
    const { path } = await linkOf(`links.${DOMAIN}`)
    const { path: later } = await linkOf(`go.${DOMAIN}`)
    expect([(await at(`links.${DOMAIN}`, path)).status, (await at(`go.${DOMAIN}`, later)).status]).toEqual([302, 302])
    const { id, ...rest } = (await server.store().domains.findByName(DOMAIN))!
    const check = { verifiedAt: rest.verifiedAt, checkedAt: START, findings: rest.findings }
    await server.store().domains.recordCheck(id, { ...check, status: 'failed', reason: 'proof_lost' })
    expect((await at(`links.${DOMAIN}`, path)).status).toBe(404)
    // Its links are independent of the next owner of the name.
    const next = await other(DOMAIN)
    expect(next.domain.name).toBe(DOMAIN)
    expect((await at(`links.${DOMAIN}`, path)).status).toBe(404)
  })

  // threat: foreign-tracking-host
  test('of a mail from before the upgrade works on the server’s names and hosts of its own domain alone', async () => {
    const { deliveryId } = await linkOf(null)
    await other('other.example')
    const secret = await server.store().secret('tracking', new Uint8Array(32))
    const body = deliveryId.slice(4)
    const tag = (text: string) => createHmac('sha256', secret).update(text).digest().toString('base64url', 0, 16)
    const old = `/t/c/${body}${tag(`track c ${body} ${TARGET}`)}/${Buffer.from(TARGET).toString('base64url')}`
    const stop = `/t/u/${body}${tag(`track u ${body} `)}`
    for (const host of [PUBLIC, `mail.${DOMAIN}`, `links.${DOMAIN}`]) {
      expect([host, (await at(host, old)).status, (await at(host, stop)).status]).toEqual([host, 302, 200])
    }
    for (const host of ['links.other.example', 'other.example', 'evil.example']) {
      expect([host, (await at(host, old)).status, (await at(host, stop)).status]).toEqual([host, 404, 404])
    }
  })

  // threat: blocked-target
  test('to a target that the operator has blocked gets 410, also in mail that was sent before, and counts nothing', async () => {
    const { path, deliveryId } = await linkOf(null)
    expect((await at(PUBLIC, path)).status).toBe(302)
    const link = { id: mintId('blk'), kind: 'host' as const, value: 'shop.example', reason: 'abuse', createdAt: START }
    expect(await server.store().blockedLinks.add(link)).toBe('added')
    const answer = await at(PUBLIC, path)
    expect([answer.status, answer.headers.get('location')]).toEqual([410, null])
    expect(await answer.text()).not.toContain('shop.example')
    await until('the click', async () => (await server.store().deliveries.get(deliveryId))!.delivery.clicks === 1)
    expect((await server.ask('POST', '/v1/blocked-links', { target: 'x.example', reason: 'x' })).status).toBe(403)
    await server.store().blockedLinks.remove(link.id)
    expect((await at(PUBLIC, path)).status).toBe(302)
  })
})
