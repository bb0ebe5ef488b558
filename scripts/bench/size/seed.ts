/** A data directory as after a busy month, written by SQL into the schema of this checkout: the same rows as the
 *  server would write, but faster. Some minutes and seven gigabytes at full size. Secondary indexes are created at
 *  the end, in order, which keeps it to minutes; the server's own code fills the search index. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packContent } from '../../../src/mail/content.ts'
import { queueOf } from '../../../src/model/delivery.ts'
import type { Event } from '../../../src/model/event.ts'
import { type Connection, connect } from '../../../src/storage/sqlite/driver.ts'
import { eventKinds } from '../../../src/storage/sqlite/event-kinds.ts'
import { BATCH, searchIndex } from '../../../src/storage/sqlite/search-index.ts'
import { run } from '../process.ts'
import { DAY_MS, DAYS, type Extent, messageFields, noise, recipient, type Sender } from './dataset.ts'
import { acceptedAt, idAt } from './ids.ts'

/** Of one transaction. */
const CHUNK = 100_000
/** Shares of the mail in thousandths: the big organization, the small one, and ten that share the rest. */
const BIG = 700
const SMALL = 10
const OTHERS = 10

export interface Seeded {
  extent: Extent
  seededAt: number
  big: { key: string; senders: Sender[]; webhookId: string }
  small: { key: string; senders: Sender[]; webhookId: string }
}

/** Creates `folder`/data and describes its content in `folder`/seeded.json. */
export async function seed(binary: string, folder: string, extent: Extent): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const now = Date.now()
  const { big, small, others } = await organizations(binary, folder)
  const db = connect(join(folder, 'data/postrider.db'), { busyTimeoutMs: 5_000 })
  db.pragma('journal_mode = off')
  db.pragma('synchronous = off')
  db.pragma('foreign_keys = off')
  db.pragma('cache_size = -262144')
  const senderOf = (n: number): Sender => {
    const pick = noise(n * 3 + 2) % 1000
    // The fourth domain of the big organization sends one mail of a thousand.
    if (pick < BIG) return big.senders[noise(n) % 1000 === 0 ? 3 : noise(n) % 3]!
    return pick < BIG + SMALL ? small.senders[0]! : others[pick % OTHERS]!
  }
  const indexes = dropIndexes(db)
  fillTemplates(db, big.senders[0]!, now)
  fillMessages(db, extent, senderOf, now)
  fillEvents(db, extent, senderOf, now)
  const webhooks = [big, small].map(({ senders }) => fillWebhook(db, senders[0]!.organizationId, extent, now))
  fillSuppressions(db, extent, senderOf, now)
  fillInbound(db, extent, senderOf, now)
  fillStats(db, [...big.senders, ...small.senders, ...others], now)
  for (const [at, sql] of indexes.entries()) {
    say(`index ${at + 1} of ${indexes.length}`)
    db.exec(sql)
  }
  db.pragma('journal_mode = wal')
  fillSearch(db)
  db.pragma('wal_checkpoint(truncate)')
  db.close()
  const seeded: Seeded = {
    extent,
    seededAt: now,
    big: { ...big, webhookId: webhooks[0]! },
    small: { ...small, webhookId: webhooks[1]! },
  }
  writeFileSync(join(folder, 'seeded.json'), JSON.stringify(seeded))
}

async function organizations(binary: string, folder: string) {
  const config = join(folder, 'seed.toml')
  writeFileSync(config, `hostname = "mail.bench.example"\ndata_dir = "${join(folder, 'data')}"\n`)
  const ask = async (...args: string[]) => JSON.parse(await run(binary, [...args, '--config', config, '--json']))
  const senderOf = async (organization: string, domain: string): Promise<{ key: string; sender: Sender }> => {
    const made = await ask('domain', 'add', domain, '--org', organization)
    const key = await ask('key', 'create', '--domain', domain, '--permission', 'admin')
    const { id, organizationId } = idsOf(folder, domain)
    return { key: key.key, sender: { organizationId, domainId: id ?? made.id, domain, keyId: key.id } }
  }
  const organization = async (name: string, domains: string[]) => {
    await ask('org', 'create', name, '--plan', 'enterprise')
    const made = []
    for (const domain of domains) made.push(await senderOf(name, domain))
    return { key: made[0]!.key, senders: made.map(({ sender }) => sender) }
  }
  const big = await organization('big', ['big0.example', 'big1.example', 'big2.example', 'big3.example'])
  const small = await organization('small', ['small.example'])
  const others: Sender[] = []
  for (let at = 0; at < OTHERS; at++) others.push(...(await organization(`o${at}`, [`o${at}.example`])).senders)
  return { big, small, others }
}

function idsOf(folder: string, domain: string): { id: string; organizationId: string } {
  const db = connect(join(folder, 'data/postrider.db'), { busyTimeoutMs: 5_000, readonly: true })
  const sql = 'select id, organization_id as organizationId from domains where name = ?'
  const row = db.prepare(sql).get(domain) as { id: string; organizationId: string }
  db.close()
  return row
}

/** Drops derived data → the statements that create it again. */
function dropIndexes(db: Connection): string[] {
  const rows = db
    .prepare("select name, sql from sqlite_master where type = 'index' and sql is not null order by name")
    .all() as { name: string; sql: string }[]
  for (const { name } of rows) db.exec(`drop index ${name}`)
  return rows.map(({ sql }) => sql)
}

function fillMessages(db: Connection, extent: Extent, senderOf: (n: number) => Sender, now: number): void {
  const insert = (table: string, columns: string) =>
    db.prepare(
      `insert into ${table} (${columns}) values (${columns
        .split(',')
        .map(() => '?')
        .join(', ')})`,
    )
  const addMessage = insert(
    'messages',
    `number, id, organization_id, domain_id, key_id, mode, source, status, sender, sender_address, recipients, subject,
      tags, metadata, template_id, size_bytes, message_id_header, created_at, scheduled_at, expires_at, require_tls,
      unsubscribe, track_opens, track_clicks`,
  )
  const addContent = insert('message_contents', 'message_number, content')
  const addDelivery = insert(
    'deliveries',
    `number, id, message_number, position, email, address, type, queue, status, attempts, last_attempt_at,
      next_attempt_at, delivered_at, smtp_response, mx_host, tls`,
  )
  const addAttempt = insert('attempts', 'delivery_number, number, started_at, duration_ms, outcome, facts')
  db.exec('create temp table tagged (organization_id text, tag text, message_number integer)')
  const keepTag = insert('tagged', 'organization_id, tag, message_number')
  const facts = JSON.stringify({
    mxHost: 'mx.example',
    mxAddress: '192.0.2.1',
    sourceAddress: null,
    tlsVersion: 'TLSv1.3',
    tlsCipher: 'TLS_AES_256_GCM_SHA384',
    tlsVerified: true,
    reply: '250 2.0.0 Ok',
    enhancedCode: '2.0.0',
    cause: null,
    transcript: '',
  })
  const content = shortContent(now)
  inChunks(db, 'messages', extent.past + extent.queued, (n) => {
    const sender = senderOf(n)
    const at = acceptedAt(n, extent, now)
    const { subject, sender: local, tags, metadata, mode, template } = messageFields(n)
    const [email, destination] = recipient(n, extent)
    const id = idAt('msg', at, n)
    const isPast = n < extent.past
    const status = isPast ? 'delivered' : ['queued', 'scheduled', 'deferred'][n % 3]!
    const from = `${local}@${sender.domain}`
    // From in an hour to in two weeks: nothing of it is due during other measurements.
    const dueAt = now + 3_600_000 + (noise(n * 17) % (14 * DAY_MS))
    addMessage.run(
      n + 1,
      id,
      sender.organizationId,
      sender.domainId,
      sender.keyId,
      mode,
      'api',
      status,
      from,
      from,
      JSON.stringify([email, null, null, null]),
      subject,
      JSON.stringify(tags),
      JSON.stringify(metadata),
      template === null ? null : idAt('tpl', 0, template),
      2_000,
      `<${id}@${sender.domain}>`,
      at,
      status === 'scheduled' ? dueAt : null,
      null,
      0,
      0,
      0,
      0,
    )
    addContent.run(n + 1, content)
    for (const tag of new Set(tags)) keepTag.run(sender.organizationId, tag, n + 1)
    addDelivery.run(
      n + 1,
      idAt('dlv', at, n),
      n + 1,
      0,
      email,
      email,
      'to',
      queueOf(destination, sender.organizationId),
      status,
      isPast || n % 3 === 2 ? 1 : 0,
      isPast ? at + 500 : null,
      isPast ? null : dueAt,
      isPast ? at + 600 : null,
      isPast ? '250 2.0.0 Ok' : null,
      isPast ? 'mx.example' : null,
      isPast ? 'TLSv1.3 TLS_AES_256_GCM_SHA384' : null,
    )
    if (isPast) addAttempt.run(n + 1, 1, at + 500, 90, 'delivered', facts)
  })
  say('tags in order')
  db.exec('insert into message_tags select * from tagged order by 1, 2, 3; drop table tagged')
}

function shortContent(dateAt: number): Uint8Array {
  return packContent({
    from: { name: '', address: 'hello@big0.example' } as never,
    to: [],
    cc: [],
    replyTo: [],
    subject: 'order',
    dateAt,
    messageId: '<1@big0.example>',
    html: '<p>It works.</p>',
    text: 'It works.',
    headers: [],
    attachments: [],
    boundarySeed: 'x',
  })
}

function fillEvents(db: Connection, extent: Extent, senderOf: (n: number) => Sender, now: number): void {
  const add =
    db.prepare(`insert into events (number, id, type, organization_id, domain_id, message_id, mode, created_at, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const each = extent.events / extent.past
  const kinds = eventKinds(db)
  inChunks(db, 'events', extent.events, (n) => {
    const of = Math.floor(n / each)
    const sender = senderOf(of)
    const acceptance = acceptedAt(of, extent, now)
    const at = acceptance + 600
    const pick = noise(n * 11)
    const nth = n - Math.ceil(of * each)
    const type =
      nth === 0
        ? 'message.delivered'
        : pick % 50_000 === 0
          ? 'message.complained'
          : pick % 5_000 === 0
            ? 'message.unsubscribed'
            : (['message.opened', 'message.clicked', 'message.opened'][nth % 3] as string)
    const { subject, sender: local, tags, metadata, mode } = messageFields(of)
    const id = idAt('evt', at, n)
    const messageId = idAt('msg', acceptance, of)
    const data = {
      message_id: messageId,
      from: `${local}@${sender.domain}`,
      to: recipient(of, extent)[0],
      subject,
      metadata,
      tags,
      mode,
    }
    const body = JSON.stringify({ id, type, timestamp: new Date(at).toISOString(), data })
    add.run(n + 1, id, type, sender.organizationId, sender.domainId, messageId, mode, at, body)
    kinds.note({ organizationId: sender.organizationId, type, mode, domainId: sender.domainId } as Event, n + 1)
  })
}

function fillTemplates(db: Connection, { organizationId }: Sender, now: number): void {
  const add = db.prepare(
    'insert into templates (id, organization_id, alias, name, version, created_at, updated_at) values (?, ?, ?, ?, 3, ?, ?)',
  )
  const addVersion = db.prepare(
    "insert into template_versions (template_id, version, created_at, subject, variables, html, text) values (?, ?, ?, 'Hello', '[]', ?, 'Hello')",
  )
  inChunks(db, 'templates', 1_000, (n) => {
    const id = idAt('tpl', n < 50 ? 0 : now, n)
    add.run(id, organizationId, `template-${n}`, `Template ${n}`, now, now)
    for (let version = 1; version <= 3; version++) addVersion.run(id, version, now, '<p>Hello</p>'.repeat(400))
  })
}

/** A webhook with a share of final deliveries, for events of its organization. */
function fillWebhook(db: Connection, organizationId: string, extent: Extent, now: number): string {
  const id = idAt('whk', now, noise(Bun.hash.crc32(organizationId)))
  db.prepare(`insert into webhooks (id, organization_id, url, events, format, status, created_at, updated_at, secret)
    values (?, ?, 'https://hooks.example/', '["message.delivered"]', 'enveloped', 'paused', ?, ?, x'00')`).run(
    id,
    organizationId,
    now,
    now,
  )
  const add =
    db.prepare(`insert into webhook_deliveries (id, webhook_id, event_number, type, status, attempts, created_at)
    values (?, ?, ?, ?, ?, 1, ?)`)
  const addAttempt = db.prepare(`insert into webhook_attempts (delivery_number, number, at, duration_ms, status_code)
    values (?, 1, ?, 12, ?)`)
  const events = db
    .prepare('select number, type, created_at as at from events where organization_id = ? and number >= ? limit ?')
    .all(organizationId, Math.floor(extent.events / 2), extent.webhookDeliveries) as {
    number: number
    type: string
    at: number
  }[]
  const first = (db.prepare('select coalesce(max(number), 0) from webhook_deliveries').pluck().get() as number) + 1
  inChunks(db, 'webhook deliveries', events.length, (n) => {
    const { number, type, at } = events[n]!
    const failed = noise(n) % 3_000 === 0
    add.run(idAt('whd', at, number), id, number, type, failed ? 'failed' : 'success', at)
    addAttempt.run(first + n, at, failed ? 500 : 200)
  })
  return id
}

function fillSuppressions(db: Connection, extent: Extent, senderOf: (n: number) => Sender, now: number): void {
  const add =
    db.prepare(`insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at)
    values (?, ?, '', ?, ?, null, ?)`)
  inChunks(db, 'suppressions', extent.suppressions, (n) => {
    const at = Math.floor(now - DAYS * DAY_MS * (1 - n / extent.suppressions))
    const reason = n % 2_000 === 0 ? 'complaint' : n % 3 === 0 ? 'manual' : 'hard_bounce'
    add.run(idAt('sup', at, n), senderOf(n).organizationId, `gone${n}@mail1.example`, reason, at)
  })
}

function fillInbound(db: Connection, extent: Extent, senderOf: (n: number) => Sender, now: number): void {
  const addRaw = db.prepare('insert into inbound_raws (number, parsed, raw) values (?, ?, ?)')
  const add =
    db.prepare(`insert into inbound_messages (number, id, organization_id, domain_id, route_id, action, received_at, return_path,
      sender, recipients, subject, message_id_header, size_bytes, sender_ip, helo, spf, dkim, dmarc, arc, raw_number, delivery_status)
    values (?, ?, ?, ?, ?, 'store', ?, ?, ?, ?, ?, ?, 1000, '192.0.2.1', 'mx', 'pass', 'pass', 'pass', 'none', ?, ?)`)
  const addAddress = db.prepare(
    'insert into inbound_addresses (organization_id, field, address, message_number) values (?, ?, ?, ?)',
  )
  const bytes = Buffer.alloc(200, 97)
  inChunks(db, 'inbound messages', extent.inbound, (n) => {
    const { organizationId, domainId, domain } = senderOf(n)
    const at = Math.floor(now - DAYS * DAY_MS * (1 - n / extent.inbound))
    const from = `u${noise(n) % 50_000}@mail3.example`
    const to = `${noise(n) % 500 === 0 ? 'rare' : 'help'}@${domain}`
    addRaw.run(n + 1, bytes, bytes)
    const status = noise(n + 9) % 4_000 === 0 ? 'failed' : null
    add.run(
      n + 1,
      idAt('inb', at, n),
      organizationId,
      domainId,
      idAt('rte', 0, noise(n) % 5),
      at,
      from,
      from,
      JSON.stringify([to]),
      `Question ${n}`,
      `<${n}@mail3.example>`,
      n + 1,
      status,
    )
    addAddress.run(organizationId, 'from', from, n + 1)
    addAddress.run(organizationId, 'to', to, n + 1)
  })
}

/** Counters of each hour and day of the month, with fifteen tags. */
function fillStats(db: Connection, senders: Sender[], now: number): void {
  const zeros = Array(13).fill('0').join(', ')
  const add = db.prepare(`insert into stats values (?, ?, ?, ?, 'live', ?, 100, 95, ${zeros}) on conflict do nothing`)
  const today = Math.floor(now / DAY_MS)
  inChunks(db, 'hours of statistics', DAYS * 25, (n) => {
    for (const { organizationId, domainId } of senders) {
      for (let tag = 0; tag < 16; tag++) {
        add.run(today - Math.floor(n / 25), n % 25, organizationId, tag === 0 ? '' : `tag${tag}`, domainId)
      }
    }
  })
}

/** By the server's own code. */
export function fillSearch(db: Connection): void {
  const search = searchIndex(db)
  while (search.index()) if (search.last() % (100 * BATCH) === 0) say(`search index: ${search.last()} messages`)
  search.close()
}

function inChunks(db: Connection, what: string, count: number, write: (n: number) => void): void {
  for (let from = 0; from < count; from += CHUNK) {
    db.exec('begin')
    for (let n = from; n < Math.min(count, from + CHUNK); n++) write(n)
    db.exec('commit')
    if (from % (10 * CHUNK) === 0) say(`${what}: ${from} of ${count}`)
  }
}

const startedAt = performance.now()
function say(what: string): void {
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${what}`)
}
