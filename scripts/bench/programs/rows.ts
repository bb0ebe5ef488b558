/** What accepting a message costs at least: a server that parses the same requests, packs their content and writes their
 *  rows as Postrider does, without keys, checks, limits, log and metrics. Prints `{"http": "host:port"}`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { packContent } from '../../../src/mail/content.ts'
import { openStore } from '../../../src/storage/sqlite/open.ts'
import { dueMessage } from '../seed.ts'

interface Body {
  to: string
  subject: string
  html: string
}

const folder = mkdtempSync(join(tmpdir(), 'postrider-rows-'))
const store = await openStore({ dataDir: folder, now: Date.now() })
const owner = { organizationId: `org_${'0'.repeat(26)}`, domainId: `dom_${'0'.repeat(26)}` }
await store.organizations.create({ id: owner.organizationId, name: 'Rows', plan: 'enterprise', createdAt: Date.now() })
const sender = { name: 'Bench', address: 'bench@bench.example', local: 'bench', domain: 'bench.example' }
let number = 0

const app = new Elysia({ serve: { reusePort: false } }).post('/v1/messages/send', async ({ body, set }) => {
  const { to, subject, html } = body as Body
  const accepted = dueMessage(owner, number++, [to], Date.now())
  const content = packContent({
    from: sender,
    to: [{ name: null, address: to, local: 'ann', domain: 'sink.example' }],
    cc: [],
    replyTo: [],
    subject,
    dateAt: Date.now(),
    messageId: accepted.message.messageIdHeader,
    html,
    text: null,
    headers: [],
    attachments: [],
    boundarySeed: accepted.message.id,
  })
  const volume = { organizationId: owner.organizationId, month: '2026-11', count: 1, limit: -1 }
  await store.messages.accept([{ ...accepted, content }], volume)
  set.status = 202
  return { status: 'queued' }
})
app.listen({ hostname: '127.0.0.1', port: 0 })
console.log(JSON.stringify({ http: `127.0.0.1:${app.server!.port}` }))
process.on('SIGTERM', async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
