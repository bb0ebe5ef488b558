import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_USER } from '../../src/model/user.ts'
import { createEncryption, EncryptionKeyUnusable } from '../../src/storage/encryption.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { reEncrypt } from '../../src/storage/sqlite/re-encrypt.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { createRecords, DOMAIN, found, ORGANIZATION, START, WORKER, YEARS_LATER } from './records.ts'

/** Secrets on disk. */

let dataDir: string
const keyFile = () => join(dataDir, 'seal.key')
const records = createRecords()
const open = () => openStore({ dataDir, now: START })
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-encryption-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const WEBHOOK = 'whsec_canary_of_a_webhook'
const SECOND = 'whsec_canary_after_rotation'
const ROUTE = 'whsec_canary_of_a_route'
const HEADER = 'canary of a gateway of a webhook'
const ROUTE_HEADER = 'canary of a gateway of a route'
const PEM = 'canary private key'
const TOTP = 'canary of codes 20 b.'
const TRACKING = Buffer.from('canary of tracking links, 32 by.')

/** A closed store with one secret of every kind. */
async function addRecords() {
  const store = await open()
  await found(store, records)
  const webhook = records.webhook()
  const route = records.inboundRoute()
  await store.webhooks.create({ ...webhook, headers: [['X-Key', HEADER]] }, WEBHOOK)
  await store.webhooks.rotateSecret(webhook.id, SECOND, START + 1, START)
  const config = {
    url: 'https://hooks.example/mail',
    includeAttachments: false,
    headers: [['X-Key', ROUTE_HEADER]] as const,
  }
  await store.inboundRoutes.create({ ...route, action: { type: 'webhook', config } }, ROUTE)
  await store.domains.addDkimKeys(DOMAIN, [
    records.dkimKey({ selector: 'canary', state: 'active', privateKeyPem: PEM }),
  ])
  await store.factors.beginTotp(FIRST_USER, Buffer.from(TOTP), START)
  await store.secret('tracking', TRACKING)
  await store.close()
  return { webhook, route }
}

/** Headers of new posts to the webhook and by the route. */
async function headersSent(store: Store): Promise<string[]> {
  const [route] = (await store.inboundRoutes.list(ORGANIZATION, { limit: 1, after: null })).records
  await store.events.append([records.event()])
  await store.inbound.accept(records.acceptedInbound([route!]))
  const request = { now: YEARS_LATER, limit: 1, worker: WORKER, freeFor: () => 1 }
  const [event] = await claimDue(store.webhookDeliveries, request)
  const [mail] = await claimDue(store.inboundDeliveries, request)
  return [...event!.headers, ...mail!.route.headers].map(([, value]) => value)
}

const everything = async () => {
  const store = await open()
  const [webhook] = (await store.webhooks.list(ORGANIZATION, { limit: 1, after: null })).records
  const secrets = await store.webhooks.secrets(webhook!.id)
  const dkim = (await store.domains.get(DOMAIN))!.dkim.find(({ selector }) => selector === 'canary')
  const headers = await headersSent(store)
  const totp = await store.factors.totp(FIRST_USER)
  const tracking = await store.secret('tracking', new Uint8Array(32))
  await store.close()
  const bytes = [totp!.secret, tracking].map((each) => Buffer.from(each).toString())
  return [secrets!.secret, secrets!.previous!.secret, dkim!.privateKeyPem, ...bytes, ...headers]
}
const ALL = [SECOND, WEBHOOK, PEM, TOTP, TRACKING.toString(), HEADER, ROUTE_HEADER]
const refusal = () =>
  open().then(
    (store) => store.close(),
    (error: Error) => error,
  )

// threat: secrets-exposed
test('no secret is readable in the files, and the store reads all of them', async () => {
  const { webhook } = await addRecords()
  const text = readdirSync(dataDir)
    .map((name) => readFileSync(join(dataDir, name), 'latin1'))
    .join('')
  expect(text.includes(webhook.url)).toBe(true) // the search would find it
  expect([WEBHOOK, SECOND, ROUTE, PEM, 'canary of'].filter((secret) => text.includes(secret))).toEqual([])
  expect(await everything()).toEqual(ALL)
})

test('the key is created at the first start, for its owner only', async () => {
  await (await open()).close()
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
  expect(Buffer.from(readFileSync(keyFile(), 'latin1').trim(), 'base64').length).toBe(32)
  expect(readdirSync(dataDir).filter((name) => name.startsWith('seal'))).toEqual(['seal.key'])
})

test('without the key, with another, a damaged one, or one that others may read, nothing is opened', async () => {
  await addRecords()
  const key = readFileSync(keyFile())
  rmSync(keyFile())
  expect(await refusal()).toBeInstanceOf(EncryptionKeyUnusable)
  expect(await refusal()).toHaveProperty(
    'message',
    expect.stringMatching(/seal\.key is missing\. .* from your backup\.$/),
  )
  expect(readdirSync(dataDir)).not.toContain('seal.key')
  writeFileSync(keyFile(), Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
  expect(await refusal()).toHaveProperty('message', expect.stringMatching(/encrypted with another key\. /))
  writeFileSync(keyFile(), 'short')
  expect(await refusal()).toHaveProperty('message', expect.stringMatching(/seal\.key is damaged/))
  writeFileSync(keyFile(), key)
  chmodSync(keyFile(), 0o640)
  expect(await refusal()).toHaveProperty('message', expect.stringMatching(/chmod 600/))
  chmodSync(keyFile(), 0o600)
  expect(await everything()).toEqual(ALL)
})

// threat: secrets-exposed
test('an encrypted secret is invalid in the place of another', async () => {
  await addRecords()
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  db.exec('update webhooks set secret = (select secret from inbound_routes)')
  db.close()
  expect(everything()).rejects.toThrow('an encrypted secret was changed or moved: webhooks')
  const encryption = createEncryption([new Uint8Array(32)])
  const encrypted = encryption.encrypt('x', 'here')
  expect(encryption.decrypt(encrypted, 'here').toString()).toBe('x')
  expect(() => encryption.decrypt(encrypted, 'there')).toThrow(EncryptionKeyUnusable)
  encrypted[encrypted.length - 1]! ^= 1
  expect(() => encryption.decrypt(encrypted, 'here')).toThrow(EncryptionKeyUnusable)
})

// threat: endpoint-headers-moved
test('headers are not sent to a URL that was changed past the store', async () => {
  await addRecords()
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  db.exec("update webhooks set url = 'https://elsewhere.example/'")
  db.close()
  const store = await open()
  expect(await headersSent(store)).toEqual([ROUTE_HEADER])
  await store.close()
})

test('a new key opens everything, and the old one alone nothing any more', async () => {
  await addRecords()
  const old = readFileSync(keyFile(), 'latin1')
  expect(reEncrypt(dataDir)).toBeGreaterThanOrEqual(5)
  const [fresh, kept] = readFileSync(keyFile(), 'latin1').trim().split('\n')
  expect(`${kept}\n`).toBe(old)
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
  expect(await everything()).toEqual(ALL)
  writeFileSync(keyFile(), `${fresh}\n`)
  expect(await everything()).toEqual(ALL)
  writeFileSync(keyFile(), old)
  expect(await refusal()).toBeInstanceOf(EncryptionKeyUnusable)
})

test('two processes that start at the same time have one key', async () => {
  const stores = await Promise.all([open(), open()])
  const [one, two] = await Promise.all(
    stores.map((store) => store.secret('verp', crypto.getRandomValues(new Uint8Array(8)))),
  )
  expect(one).toEqual(two!)
  for (const store of stores) await store.close()
})

test('a digest is the same for the same text, place and key only, and says nothing of the text', () => {
  const [one, other] = [createEncryption([Buffer.alloc(32, 1)]), createEncryption([Buffer.alloc(32, 2)])]
  const digest = one.digest('true', 'settings oidc.only')
  expect(digest).toMatch(/^[0-9a-f]{16}$/)
  expect(createEncryption([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]).digest('true', 'settings oidc.only')).toBe(digest)
  const others = [one.digest('true', 'settings oidc.x'), one.digest('false', 'settings oidc.only')]
  expect(new Set([digest, ...others, other.digest('true', 'settings oidc.only')]).size).toBe(4)
})
