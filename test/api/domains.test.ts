import { afterEach, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { slotStems } from '../../src/domains/delegated-zone.ts'
import { GRACE_MS } from '../../src/domains/ownership.ts'
import { NO_SENDER_FIELDS } from '../../src/model/message.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'
import { createTestRandom } from '../support/random.ts'

const DAY_MS = 86_400_000
const HOSTNAME = 'mail.postrider.test'
let made: TestApi | null = null
let zone: Zone | null = null
let resolver: Resolver | null = null

afterEach(async () => {
  await made?.close()
  resolver?.close()
  await zone?.stop()
  made = zone = resolver = null
})

/** Starts the API with a test DNS server on loopback. */
async function start(plan = 'enterprise', requireVerified = true, delegatedZone?: string) {
  zone = await startZone([{ name: HOSTNAME, type: 'A', data: '192.0.2.25' }])
  const systemClock = { now: () => performance.now(), sleep: async () => {} }
  resolver = createResolver({
    servers: [zone.address],
    clock: systemClock,
    random: createTestRandom(),
    maxCacheEntries: 0,
    tries: 1,
  })
  made = await createTestApi({ resolver, plan, requireVerified, ...(delegatedZone !== undefined && { delegatedZone }) })
  return { ...made, zone }
}

// biome-ignore lint/suspicious/noExplicitAny: the wire record of a domain
type Wire = any

/** Publishes the DNS records of a domain that have these purposes. By default all, except the record for domains that
 *  only receive mail. */
function publish(target: Zone, domain: Wire, purposes?: string[]) {
  for (const { purpose, type, name, value, priority } of domain.dns_records) {
    if (purposes === undefined ? purpose === 'ownership' : !purposes.includes(purpose)) continue
    target.set(name, type, [type === 'MX' ? { preference: priority, exchange: value } : value])
  }
}

const VERIFIED = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }

const statuses = (domain: Wire) =>
  domain.dns_records.map(({ purpose, status }: Wire) => `${purpose} ${status}`).join(', ')

describe('creating a domain', () => {
  test('answers 201 with two keys and every record to publish', async () => {
    const { ask, clock } = await start()
    await clock.advance(1)
    const answer = await ask('POST', '/v1/domains', { body: { name: ' Mail.BÜCHER.Example. ' } })
    expect(answer.status).toBe(201)
    const domain = answer.body
    const name = 'mail.xn--bcher-kva.example'
    const [rsa, ed25519] = domain.dkim
    expect(domain).toMatchObject({
      name,
      status: 'pending',
      created_at: '2026-11-21T12:00:00.001Z',
      verified_at: null,
      sends_live: false,
      last_checked_at: null,
      next_check_at: '2026-11-21T12:00:00.001Z',
      next_dkim_rotation_at: null,
      return_path_host: `bounces.${name}`,
      tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
    })
    expect(Object.keys(domain)).toEqual([
      'id',
      'name',
      'status',
      'detail',
      'sends_live',
      'proved_by',
      'proof_missing_since',
      'created_at',
      'verified_at',
      'last_checked_at',
      'next_check_at',
      'dkim',
      'next_dkim_rotation_at',
      'return_path_host',
      'tracking',
      'dns_records',
    ])
    expect(domain.dkim.map(({ algorithm, state }: Wire) => [algorithm, state])).toEqual([
      ['rsa-sha256', 'active'],
      ['ed25519-sha256', 'active'],
    ])
    expect(rsa.selector).toMatch(/^pr2611[0-9a-z]{6}r$/)
    expect(ed25519.selector).toBe(`${rsa.selector.slice(0, -1)}e`)
    const record = (
      purpose: string,
      type: string,
      host: string,
      value: unknown,
      priority: number | null,
      required = true,
    ) => ({
      purpose,
      type,
      name: host,
      value,
      priority,
      required,
      status: 'pending',
      found: [],
    })
    expect(domain.dns_records).toEqual([
      record(
        'dkim',
        'TXT',
        `${rsa.selector}._domainkey.${name}`,
        expect.stringMatching(/^v=DKIM1; k=rsa; p=MIIBI.{380,}$/),
        null,
      ),
      record(
        'dkim',
        'TXT',
        `${ed25519.selector}._domainkey.${name}`,
        expect.stringMatching(/^v=DKIM1; k=ed25519; p=.{43}=$/),
        null,
      ),
      record(
        'ownership',
        'TXT',
        `_postrider-verify.${name}`,
        expect.stringMatching(/^postrider-verify=[0-9a-f]{32}$/),
        null,
        false,
      ),
      record('return_path', 'MX', `bounces.${name}`, HOSTNAME, 10),
      record('spf', 'TXT', `bounces.${name}`, `v=spf1 a:${HOSTNAME} ~all`, null),
      record(
        'dmarc',
        'TXT',
        `_dmarc.${name}`,
        expect.stringMatching(/^v=DMARC1; p=none; rua=mailto:reports-[0-9a-f]{20}@bounces\./),
        null,
        false,
      ),
      record('mx', 'MX', name, HOSTNAME, 10, false),
      record('tls_rpt', 'TXT', `_smtp._tls.${name}`, expect.stringMatching(/^v=TLSRPTv1; rua=mailto:/), null, false),
    ])
    expect(answer.text).not.toContain('PRIVATE')
    expect((await ask('GET', `/v1/domains/${domain.id}`)).body).toEqual(domain)
    expect((await ask('GET', '/v1/domains')).body.data[0]).toEqual(domain)
  })

  const bad = [
    'com',
    'co.uk',
    'localhost',
    '192.0.2.1',
    '[192.0.2.1]',
    'a_b.example',
    '-a.example',
    '*.example.com',
    'a@b.example',
    'exa mple.com',
    '',
    `${'a'.repeat(64)}.example`,
  ]
  test.each(bad)('named %p gets 400', async (name) => {
    const { ask } = await start()
    const answer = await ask('POST', '/v1/domains', { body: { name } })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'name'])
  })

  test('that is proved gets 409, with the same error for every owner', async () => {
    const { ask, own, other, store } = await start()
    await store.domains.recordCheck(other.domain.id, VERIFIED)
    const headers = { 'x-request-id': 'r' }
    const mine = await ask('POST', '/v1/domains', { body: { name: own.domain.name.toUpperCase() }, headers })
    const theirs = await ask('POST', '/v1/domains', { body: { name: other.domain.name }, headers })
    expect([mine.status, mine.body.error.code, theirs.status]).toEqual([409, 'conflict', 409])
    expect(theirs.text).toBe(mine.text)
  })

  test('past the plan gets 422 quota_exceeded', async () => {
    const { ask } = await start('free')
    const answer = await ask('POST', '/v1/domains', {
      body: { name: 'second.example' },
      headers: { 'x-request-id': 'r' },
    })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'quota_exceeded'])
    expect(answer.body.error.details).toEqual({
      limit_name: 'domains',
      limit: 1,
      used: 1,
      resets_at: null,
      request_id: 'r',
      docs: '/manual/errors#quota_exceeded',
    })
  })
})

describe('verifying', () => {
  test('a domain whose records are all there makes it verified', async () => {
    const { ask, zone, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    publish(zone, (await ask('GET', path)).body)
    const answer = await ask('POST', `${path}/verify`)
    expect(answer.status).toBe(200)
    expect(statuses(answer.body)).toBe(
      'dkim valid, dkim valid, ownership missing, return_path valid, spf valid, dmarc valid, mx valid, tls_rpt valid',
    )
    expect(answer.body).toMatchObject({
      status: 'verified',
      sends_live: true,
      verified_at: '2026-11-21T12:00:00.000Z',
      last_checked_at: '2026-11-21T12:00:00.000Z',
    })
    expect((await ask('GET', path)).body).toEqual(answer.body)
  })

  test('nothing published leaves it pending; one key of two is not enough', async () => {
    const { ask, zone, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const first = (await ask('POST', `${path}/verify`)).body
    expect(statuses(first)).toBe(
      'dkim missing, dkim missing, ownership missing, return_path missing, spf missing, dmarc missing, mx missing, tls_rpt missing',
    )
    expect(first.status).toBe('pending')
    const [rsa] = first.dns_records
    zone.set(rsa.name, 'TXT', [rsa.value])
    expect((await ask('POST', `${path}/verify`)).body.status).toBe('pending')
  })

  test('the DKIM records alone decide, however they are split and spaced', async () => {
    const { ask, zone, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const [rsa, ed25519] = (await ask('GET', path)).body.dns_records
    zone.set(rsa.name, 'TXT', [[rsa.value.slice(0, 200), rsa.value.slice(200)]])
    zone.set(ed25519.name, 'TXT', [
      ed25519.value.replace('v=DKIM1; k=ed25519; p=', 'v=DKIM1;k=ed25519;t=s; p= '),
      'v=spf1 -all',
    ])
    const { body } = await ask('POST', `${path}/verify`)
    expect([body.status, statuses(body)]).toEqual([
      'verified',
      'dkim valid, dkim valid, ownership missing, return_path missing, spf missing, dmarc missing, mx missing, tls_rpt missing',
    ])
  })

  test('another key at our selector is a failure, and is shown', async () => {
    const { ask, zone, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const domain = (await ask('GET', path)).body
    publish(zone, domain)
    zone.set(domain.dns_records[1].name, 'TXT', ['v=DKIM1; k=ed25519; p=AAAA'])
    const { body } = await ask('POST', `${path}/verify`)
    expect([body.status, body.dns_records[1].status, body.dns_records[1].found]).toEqual([
      'failed',
      'mismatch',
      ['v=DKIM1; k=ed25519; p=AAAA'],
    ])
  })

  test('a verified domain that loses a record fails after seven days; DNS failures change nothing', async () => {
    const { ask, zone, own, clock } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const domain = (await ask('GET', path)).body
    publish(zone, domain)
    await ask('POST', `${path}/verify`)
    await clock.advance(1_000)
    zone.fail(domain.dns_records[0].name, 'SERVFAIL')
    const troubled = (await ask('POST', `${path}/verify`)).body
    expect([troubled.status, troubled.verified_at, troubled.dns_records[0].status]).toEqual([
      'verified',
      '2026-11-21T12:00:00.000Z',
      'valid',
    ])
    expect(troubled.last_checked_at).toBe('2026-11-21T12:00:01.000Z')
    zone.fail(domain.dns_records[0].name, null)
    zone.remove(domain.dns_records[0].name)
    const missing = (await ask('POST', `${path}/verify`)).body
    expect(missing).toMatchObject({
      status: 'verified',
      proved_by: 'dkim',
      proof_missing_since: '2026-11-21T12:00:01.000Z',
    })
    expect(missing.detail).toContain('missing from DNS since 2026-11-21T12:00:01.000Z')
    await clock.advance(GRACE_MS - 1)
    expect((await ask('POST', `${path}/verify`)).body.status).toBe('verified')
    await clock.advance(1)
    zone.fail(domain.dns_records[0].name, 'SERVFAIL')
    expect((await ask('POST', `${path}/verify`)).body.status).toBe('verified')
    zone.fail(domain.dns_records[0].name, null)
    zone.remove(domain.dns_records[0].name)
    const failed = (await ask('POST', `${path}/verify`)).body
    expect(failed).toMatchObject({ status: 'failed', proved_by: null, proof_missing_since: null })
    expect(failed.detail).toContain('no proof of ownership for seven days')
    publish(zone, domain)
    const back = (await ask('POST', `${path}/verify`)).body
    expect(back).toMatchObject({ status: 'verified', proved_by: 'dkim', detail: null })
    expect(back.verified_at).toBe('2026-11-28T12:00:01.000Z')
  })

  test('accepts another SPF record that permits us, another DMARC policy and one of the parent domain', async () => {
    const { ask, zone } = await start()
    const { body: domain } = await ask('POST', '/v1/domains', { body: { name: 'news.shop.example' } })
    const spfOf = async (...records: string[]) => {
      zone.set('bounces.news.shop.example', 'TXT', records)
      const { body } = await ask('POST', `/v1/domains/${domain.id}/verify`)
      return body.dns_records.find(({ purpose }: Wire) => purpose === 'spf').status
    }
    zone.set('_spf.shop.example', 'TXT', ['v=spf1 ip4:192.0.2.0/24 -all'])
    zone.set('_dmarc.shop.example', 'TXT', ['v=DMARC1; p=reject; rua=mailto:d@shop.example'])
    expect(await spfOf(`v=spf1 include:_spf.elsewhere.example a:${HOSTNAME} -all`)).toBe('valid')
    expect(await spfOf('v=spf1 include:_spf.shop.example -all', 'other text')).toBe('valid')
    expect(await spfOf('v=spf1 redirect=_spf.shop.example')).toBe('valid')
    expect(await spfOf('v=spf1 ip4:192.0.2.25 -all')).toBe('valid')
    expect(await spfOf('v=spf1 ip4:198.51.100.1 -all')).toBe('mismatch')
    expect(await spfOf(`v=spf1 -a:${HOSTNAME} -all`)).toBe('mismatch')
    expect(await spfOf(`v=spf1 a:${HOSTNAME} ~all`, 'v=spf1 -all')).toBe('mismatch')
    expect(await spfOf('v=spf1 include:bounces.news.shop.example -all')).toBe('mismatch')
    const { body } = await ask('GET', `/v1/domains/${domain.id}`)
    expect(statuses(body)).toContain('dmarc valid')
  })
})

describe('tracking', () => {
  test('is changed field by field; its host must be below the domain', async () => {
    const { ask, zone, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const patch = (tracking: unknown) => ask('PATCH', path, { body: { tracking } })
    const answer = await patch({ opens: true, host: 'Click.own.example' })
    expect([answer.status, answer.body.tracking]).toEqual([
      200,
      { opens: true, clicks: false, unsubscribe: false, host: 'click.own.example' },
    ])
    expect(answer.body.dns_records.at(-1)).toEqual({
      purpose: 'tracking',
      type: 'CNAME',
      name: 'click.own.example',
      value: HOSTNAME,
      priority: null,
      required: true,
      status: 'pending',
      found: [],
    })
    zone.set('click.own.example', 'CNAME', [HOSTNAME])
    expect(statuses((await ask('POST', `${path}/verify`)).body)).toContain('tracking valid')
    zone.remove('click.own.example')
    zone.set('click.own.example', 'A', ['192.0.2.25'])
    expect(statuses((await ask('POST', `${path}/verify`)).body)).toContain('tracking valid')
    zone.set('click.own.example', 'A', ['192.0.2.26'])
    expect(statuses((await ask('POST', `${path}/verify`)).body)).toContain('tracking mismatch')
    expect((await patch({ host: null })).body.tracking).toEqual({
      opens: true,
      clicks: false,
      unsubscribe: false,
      host: null,
    })
    for (const host of [
      'click.other.example',
      'own.example',
      'evilown.example',
      'bounces.own.example',
      'a b.own.example',
      '',
    ]) {
      const refused = await patch({ host })
      expect([host, refused.status, refused.body.error.field]).toEqual([host, 400, 'tracking.host'])
    }
    expect((await patch({ opens: 'yes' })).body.error.field).toBe('tracking.opens')
    expect((await ask('PATCH', path, { body: {} })).status).toBe(200)
    expect((await ask('PATCH', path, { body: { name: 'x.example' } })).body.error.field).toBe('name')
  })

  test('keeps both of two changes of different fields at once', async () => {
    const { ask, own } = await start()
    const path = `/v1/domains/${own.domain.id}`
    const patch = (tracking: unknown) => ask('PATCH', path, { body: { tracking } })
    const answers = await Promise.all([patch({ opens: true }), patch({ clicks: true })])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await ask('GET', path)).body.tracking).toMatchObject({ opens: true, clicks: true })
  })
})

describe('rotating DKIM keys', () => {
  test('new keys wait for their records, then sign while the old ones retire', async () => {
    const { ask, zone, own, clock } = await start()
    const path = `/v1/domains/${own.domain.id}`
    publish(zone, (await ask('GET', path)).body)
    await ask('POST', `${path}/verify`)
    await clock.advance(1_000)
    const states = (domain: Wire) => domain.dkim.map(({ state }: Wire) => state)

    const rotated = await ask('POST', `${path}/rotate-dkim`)
    expect([rotated.status, states(rotated.body)]).toEqual([200, ['active', 'active', 'pending', 'pending']])
    expect(new Set(rotated.body.dkim.map(({ selector }: Wire) => selector)).size).toBe(4)
    const twice = await ask('POST', `${path}/rotate-dkim`)
    expect([twice.status, twice.body.error.code]).toEqual([422, 'invalid_state'])

    const waiting = (await ask('POST', `${path}/verify`)).body
    expect([waiting.status, states(waiting)]).toEqual(['verified', ['active', 'active', 'pending', 'pending']])
    publish(zone, rotated.body)
    const done = (await ask('POST', `${path}/verify`)).body
    expect(states(done)).toEqual(['retiring', 'retiring', 'active', 'active'])
    expect([done.status, done.verified_at]).toEqual(['verified', '2026-11-21T12:00:01.000Z'])
    expect(done.dns_records.slice(0, 4).map(({ required }: Wire) => required)).toEqual([false, false, true, true])
    expect((await ask('POST', `${path}/rotate-dkim`)).status).toBe(200)
  })
})

describe('rotating DKIM keys with a delegated zone', () => {
  test('uses the published selectors only, and says when they are free again', async () => {
    const { ask, own, store, clock } = await start('enterprise', true, 'pm.example.net')
    const { id } = own.domain
    const rotate = () => ask('POST', `/v1/domains/${id}/rotate-dkim`)
    const selectors = async () =>
      (await store.domains.get(id))!.dkim.map(({ selector, state }) => `${selector} ${state}`)
    /** As if all servers showed the new keys. */
    const use = async () => {
      const { dkim } = (await store.domains.get(id))!
      const next = { active: 'retiring', pending: 'active' } as const
      const changes = dkim.flatMap(({ selector, state }) =>
        state === 'retiring' ? [] : [{ selector, from: state, to: next[state], since: clock.now() }],
      )
      await store.domains.setDkimStates(id, changes)
    }
    const [first, second] = slotStems(id)
    for (const stem of [first, second]) {
      await clock.advance(1_000)
      const { status, body } = await rotate()
      expect([status, body.dkim.at(-1).selector]).toEqual([200, `${stem}e`])
      await use()
    }
    // The first pair has retired just now. By default mail is at most three days old, and five more days at a relay.
    const freeAt = clock.now() + 8 * DAY_MS
    const early = await rotate()
    expect([early.status, early.body.error.code]).toEqual([422, 'invalid_state'])
    expect(early.body.error.details.retry_at).toBe(new Date(freeAt).toISOString())
    expect(early.body.error.message).toContain(new Date(freeAt).toISOString())
    await clock.advance(8 * DAY_MS - 1)
    expect((await rotate()).status).toBe(422)
    expect((await selectors()).filter((each) => each.startsWith(first))).toHaveLength(2)
    await clock.advance(1)
    expect((await rotate()).status).toBe(200)
    expect(await selectors()).toEqual([
      `${second}r active`,
      `${second}e active`,
      `${first}r pending`,
      `${first}e pending`,
    ])
  })
})

test.each(['pm.example.net', undefined])(
  'two at once begin one rotation of DKIM keys (delegated zone: %p)',
  async (delegated) => {
    const { ask, own, store } = await start('enterprise', true, delegated)
    const rotate = () => ask('POST', `/v1/domains/${own.domain.id}/rotate-dkim`)
    const answers = await Promise.all([rotate(), rotate()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect((await store.domains.get(own.domain.id))!.dkim.filter(({ state }) => state === 'pending')).toHaveLength(2)
  },
)

test('a domain is deleted with its keys, unless it has undelivered mail', async () => {
  const api = await start()
  const { ask, own, store } = api
  const path = `/v1/domains/${own.domain.id}`
  const messageId = await queueMessage(api)
  const key = own.keys.admin
  const lesser = await ask('DELETE', path)
  expect([lesser.status, lesser.body.error.details.required]).toEqual([403, 'admin'])
  const busy = await ask('DELETE', path, { key })
  expect([busy.status, busy.body.error.code]).toEqual([422, 'invalid_state'])
  expect(await store.messages.cancel(messageId, START)).toBe('cancelled')
  const answer = await ask('DELETE', path, { key })
  expect([answer.status, answer.body]).toEqual([200, { id: own.domain.id, deleted: true }])
  expect((await ask('GET', '/v1/events', { key: own.keys.read })).status).toBe(401)
  expect(await store.domains.get(own.domain.id)).toBeNull()
})

test('a key made on another thread matches its published record', async () => {
  const { mintDkimKeys } = await import('../../src/domains/keys.ts')
  const [rsa, ed25519] = await mintDkimKeys('active', START, createTestRandom())
  const lengths = [rsa!, ed25519!].map(({ publicKey }) => Buffer.from(publicKey, 'base64').length)
  const reference = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'der',
  })
  expect(lengths).toEqual([reference.length, 32])
  const { createPrivateKey, createPublicKey } = await import('node:crypto')
  for (const key of [rsa!, ed25519!]) {
    const spki = createPublicKey(createPrivateKey(key.privateKeyPem)).export({ type: 'spki', format: 'der' })
    expect(spki.toString('base64')).toEndWith(key.publicKey.slice(-20))
  }
})

/** Adds a queued message of our domain and resolves with its ID. */
async function queueMessage({ store, mintId, own }: TestApi): Promise<string> {
  const id = mintId('msg')
  const message = {
    id,
    organizationId: own.organization.id,
    domainId: own.domain.id,
    keyId: own.keys.send.record.id,
    mode: 'live' as const,
    source: 'api' as const,
    status: 'queued' as const,
    from: 'a@own.example',
    to: 'b@there.example',
    cc: null,
    bcc: null,
    replyTo: null,
    replies: null,
    subject: 'x',
    ...NO_SENDER_FIELDS,
    templateId: null,
    sizeBytes: 1,
    messageIdHeader: '<x@own.example>',
    createdAt: START,
    scheduledAt: null,
    expiresAt: null,
    unsubscribe: false,
    trackOpens: false,
    trackClicks: false,
  }
  const delivery = {
    id: mintId('dlv'),
    position: 0,
    email: 'b@there.example',
    type: 'to' as const,
    destination: 'there.example',
    status: 'queued' as const,
    nextAttemptAt: START,
    attempts: 0,
    lastAttemptAt: null,
    deliveredAt: null,
    smtpResponse: null,
    bounceType: null,
    bounceCode: null,
    opens: 0,
    clicks: 0,
  }
  const accepted = {
    message,
    content: new Uint8Array(1),
    deliveries: [delivery],
    attempts: [],
    events: [],
    suppressions: [],
  }
  await store.messages.accept([accepted], {
    organizationId: own.organization.id,
    month: '2026-11',
    count: 1,
    limit: -1,
  })
  return id
}
