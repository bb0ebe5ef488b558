import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Resend } from 'resend'
import { Webhook } from 'standardwebhooks'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { RECEIVING, receive } from './receive.ts'

/** Each method of npm's `resend`, called once against a server and compared with the table of the manual's page
 *  `migration`. A new version of the package with another method fails here. */

const MAIL = { from: `Shop <shop@${DOMAIN}>`, to: 'ann@one.remote.example', subject: 'Hello', html: '<p>Hi Ann</p>' }
const FLOW = { name: 'Flow', steps: [], connections: [] }

let remote: RemoteMx
let server: TestServer
let resend: Resend
/** A received message. */
let received: string

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: RECEIVING })
  resend = new Resend(server.keys.live, { baseUrl: `http://${server.running().listening.http}/compat/resend` })
  received = await receive(server)
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

interface Outcome {
  data?: unknown
  error: { statusCode?: number | null; name?: string; message: string } | null
}

const made: Record<string, string> = {}
/** Stores the ID of a created record under `name`, for later methods. */
async function make(name: string, answer: Promise<{ data: { id: string } | null; error: unknown }>): Promise<Outcome> {
  const outcome = await answer
  made[name] = outcome.data?.id ?? ''
  return outcome as Outcome
}
const scheduled = () => resend.emails.send({ ...MAIL, scheduledAt: 'in 1 hour' })

/** Ordered so that each method finds its records. */
const ANSWERED: Record<string, () => Promise<Outcome>> = {
  'emails.send': () => make('email', scheduled()),
  'emails.create': () => resend.emails.create(MAIL),
  'emails.get': () => resend.emails.get(made.email!),
  'emails.list': () => resend.emails.list({ limit: 5 }),
  'emails.update': () => resend.emails.update({ id: made.email!, scheduledAt: 'in 2 hours' }),
  'emails.cancel': () => resend.emails.cancel(made.email!),
  'batch.send': () => resend.batch.send([MAIL]),
  'batch.create': () => resend.batch.create([MAIL]),

  'emails.receiving.list': () => resend.emails.receiving.list({ limit: 5 }),
  'emails.receiving.get': () => resend.emails.receiving.get(received, { html_format: 'cid' }),
  'emails.receiving.attachments.list': () => resend.emails.receiving.attachments.list({ emailId: received }),
  'emails.receiving.attachments.get': () => resend.emails.receiving.attachments.get({ emailId: received, id: '1' }),
  'emails.receiving.forward': () =>
    resend.emails.receiving.forward({ emailId: received, to: MAIL.to, from: MAIL.from }),

  'domains.create': () => make('domain', resend.domains.create({ name: 'walked.example' })),
  'domains.list': () => resend.domains.list(),
  'domains.get': () => resend.domains.get(made.domain!),
  'domains.update': () => resend.domains.update({ id: made.domain!, openTracking: true }),
  'domains.verify': () => resend.domains.verify(made.domain!),
  'domains.remove': () => resend.domains.remove(made.domain!),

  'apiKeys.create': () => make('key', resend.apiKeys.create({ name: 'walked' })),
  'apiKeys.list': () => resend.apiKeys.list(),
  'apiKeys.update': () => resend.apiKeys.update(made.key!, { name: 'walked further' }),
  'apiKeys.remove': () => resend.apiKeys.remove(made.key!),

  'webhooks.create': () =>
    make('webhook', resend.webhooks.create({ endpoint: server.receiver.url, events: ['email.bounced'] })),
  'webhooks.list': () => resend.webhooks.list(),
  'webhooks.get': () => resend.webhooks.get(made.webhook!),
  'webhooks.update': () => resend.webhooks.update(made.webhook!, { status: 'disabled' }),
  'webhooks.rotateSigningSecret': () => resend.webhooks.rotateSigningSecret(made.webhook!),
  'webhooks.remove': () => resend.webhooks.remove(made.webhook!),
  'webhooks.verify': async () => ({ data: verified(), error: null }),

  'suppressions.add': () => make('suppression', resend.suppressions.add({ email: 'a@one.remote.example' })),
  'suppressions.list': () => resend.suppressions.list({ origin: 'manual' }),
  'suppressions.get': () => resend.suppressions.get(made.suppression!),
  'suppressions.remove': () => resend.suppressions.remove('a@one.remote.example'),
  'suppressions.batch.add': () => resend.suppressions.batch.add({ emails: ['b@one.remote.example'] }),
  'suppressions.batch.remove': () => resend.suppressions.batch.remove({ emails: ['b@one.remote.example'] }),
}

/** Verifies a signed sample. resend.test.ts verifies the webhook requests of this server. */
function verified(): unknown {
  const webhookSecret = `whsec_${Buffer.alloc(24).toString('base64')}`
  const now = new Date()
  const signature = new Webhook(webhookSecret).sign('evt_1', now, '{}')
  const headers = { id: 'evt_1', timestamp: String(Math.floor(now.getTime() / 1000)), signature }
  return resend.webhooks.verify({ payload: '{}', headers, webhookSecret })
}

const INBOX = { inboxId: 'inb_1' }
const THREAD = { ...INBOX, threadId: 'thr_1' }
const LETTER = { ...THREAD, emailId: 'eml_1', text: 'Hi' }
const HOOK = { webhookId: 'whk_1', eventId: 'evt_1' }
const TEMPLATE = { name: 'T', subject: 'Hi', html: '<p>Hi</p>' }
const FILE = new Blob(['email\na@b.example\n'])

/** Method that the server does not support → its arguments. */
const REFUSED: Record<string, unknown[]> = {
  'emails.share': ['eml_1', { expiresIn: '1h' }],
  'emails.metrics': [{ startDate: '2026-11-01', metrics: ['delivered'] }],
  'emails.attachments.get': [{ emailId: 'eml_1', id: 'att_1' }],
  'emails.attachments.list': [{ emailId: 'eml_1', limit: 5 }],
  'domains.claims.create': [{ name: 'walked.example' }],
  'domains.claims.get': ['dom_1'],
  'domains.claims.verify': ['dom_1'],
  'webhooks.events.list': [{ ...HOOK, limit: 5 }],
  'webhooks.events.get': [HOOK],
  'webhooks.events.replay': [HOOK],
  'webhooks.events.attempts.list': [HOOK],
  'templates.create': [TEMPLATE],
  'templates.remove': ['tpl_1'],
  'templates.get': ['tpl_1'],
  'templates.list': [{ limit: 5 }],
  'templates.duplicate': ['tpl_1'],
  'templates.publish': ['tpl_1'],
  'templates.update': ['tpl_1', TEMPLATE],
  'broadcasts.create': [{ ...MAIL, segmentId: 'seg_1' }],
  'broadcasts.send': ['brd_1', { scheduledAt: 'in 1 min' }],
  'broadcasts.list': [{ limit: 5 }],
  'broadcasts.get': ['brd_1'],
  'broadcasts.recipients': ['brd_1', { type: 'sent' }],
  'broadcasts.clickedLinks': ['brd_1'],
  'broadcasts.remove': ['brd_1'],
  'broadcasts.cancel': ['brd_1'],
  'broadcasts.duplicate': ['brd_1'],
  'broadcasts.update': ['brd_1', { name: 'B' }],
  'contacts.create': [{ email: 'a@b.example', firstName: 'Ann' }],
  'contacts.list': [{ audienceId: 'aud_1' }],
  'contacts.get': ['con_1'],
  'contacts.update': [{ id: 'con_1', unsubscribed: true }],
  'contacts.remove': [{ email: 'a@b.example' }],
  'contacts.imports.create': [{ file: FILE }],
  'contacts.imports.list': [{ status: 'completed' }],
  'contacts.imports.get': ['imp_1'],
  'contacts.topics.update': [{ id: 'con_1', topics: [{ id: 'top_1', subscription: 'opt_in' }] }],
  'contacts.topics.list': [{ email: 'a@b.example' }],
  'contacts.segments.list': [{ contactId: 'con_1' }],
  'contacts.segments.add': [{ contactId: 'con_1', segmentId: 'seg_1' }],
  'contacts.segments.remove': [{ contactId: 'con_1', segmentId: 'seg_1' }],
  'contactProperties.create': [{ key: 'plan', type: 'string' }],
  'contactProperties.list': [],
  'contactProperties.get': ['prp_1'],
  'contactProperties.update': [{ id: 'prp_1', fallbackValue: 'x' }],
  'contactProperties.remove': ['prp_1'],
  'topics.create': [{ name: 'News', defaultSubscription: 'opt_in' }],
  'topics.list': [],
  'topics.get': ['top_1'],
  'topics.update': [{ id: 'top_1', name: 'News' }],
  'topics.remove': ['top_1'],
  'automations.create': [FLOW],
  'automations.list': [{ status: 'enabled' }],
  'automations.get': ['aut_1'],
  'automations.remove': ['aut_1'],
  'automations.update': ['aut_1', FLOW],
  'automations.duplicate': ['aut_1'],
  'automations.stop': ['aut_1'],
  'automations.runs.get': [{ automationId: 'aut_1', runId: 'run_1' }],
  'automations.runs.list': [{ automationId: 'aut_1', status: 'running' }],
  'events.send': [{ event: 'signed.up', email: 'a@b.example' }],
  'events.create': [{ name: 'signed.up' }],
  'events.get': ['signed.up'],
  'events.list': [],
  'events.update': ['signed.up', { schema: {} }],
  'events.remove': ['signed.up'],
  'inboxes.create': [{ emailAddress: 'a@b.example', name: 'A' }],
  'inboxes.list': [],
  'inboxes.get': ['a@b.example'],
  'inboxes.update': ['inb_1', { name: 'A' }],
  'inboxes.remove': ['inb_1'],
  'inboxes.agent.get': [INBOX],
  'inboxes.agent.update': [{ ...INBOX, instructions: 'Be brief' }],
  'inboxes.labels.list': [INBOX],
  'inboxes.labels.create': [{ ...INBOX, name: 'New', color: 'red' }],
  'inboxes.labels.update': [{ ...INBOX, labelId: 'lab_1', name: 'Old' }],
  'inboxes.labels.remove': [{ ...INBOX, labelId: 'lab_1' }],
  'inboxes.drafts.list': [INBOX],
  'inboxes.drafts.create': [{ ...INBOX, text: 'Hi' }],
  'inboxes.drafts.get': [{ ...INBOX, draftId: 'drf_1' }],
  'inboxes.drafts.update': [{ ...INBOX, draftId: 'drf_1', text: 'Hi' }],
  'inboxes.drafts.remove': [{ ...INBOX, draftId: 'drf_1' }],
  'inboxes.drafts.send': [{ ...INBOX, draftId: 'drf_1' }],
  'inboxes.threads.list': [INBOX],
  'inboxes.threads.search': [{ ...INBOX, query: 'bill' }],
  'inboxes.threads.get': [THREAD],
  'inboxes.threads.update': [{ ...THREAD, read: true }],
  'inboxes.threads.remove': [THREAD],
  'inboxes.threads.emails.list': [THREAD],
  'inboxes.threads.emails.get': [LETTER],
  'inboxes.threads.emails.reply': [LETTER],
  'inboxes.threads.emails.forward': [{ ...LETTER, to: ['a@b.example'] }],
  'inboxes.threads.labels.add': [{ ...THREAD, labels: ['new'] }],
  'inboxes.threads.labels.set': [{ ...THREAD, labels: ['new'] }],
  'inboxes.threads.labels.remove': [{ ...THREAD, labelId: 'lab_1' }],
  'logs.list': [],
  'logs.get': ['log_1'],
  'usage.get': [],
  'oauthGrants.list': [],
  'oauthGrants.revoke': ['grt_1'],
}
for (const name of ['create', 'list', 'get', 'update', 'remove']) {
  const args = name === 'create' ? [{ name: 'All' }] : name === 'list' ? [] : ['seg_1', { name: 'All' }]
  REFUSED[`segments.${name}`] = args
  REFUSED[`audiences.${name}`] = args
}

/** Internal methods of the package that are visible at runtime. */
const INTERNAL = new Set([
  'contacts.imports.appendField',
  'contacts.imports.buildColumnMap',
  'contacts.imports.buildCreateFormData',
  'emails.receiving.downloadRaw',
  'emails.receiving.forwardPassthrough',
  'emails.receiving.forwardWrapped',
  'templates.performCreate',
])

/** All methods of the client by path: `emails.send`, `emails.receiving.list`. */
function methodsOf(part: object, path: string): string[] {
  const own = path === '' ? [] : Object.getOwnPropertyNames(Object.getPrototypeOf(part)).filter(isMethod)
  const parts = Object.entries(part).filter(([name, value]) => name !== 'resend' && isPart(value))
  const inner = parts.flatMap(([name, value]) => methodsOf(value, `${path}${name}.`))
  return [...own.map((name) => path + name), ...inner].filter((name) => !INTERNAL.has(name))
}
const isMethod = (name: string) => name !== 'constructor'
const isPart = (value: unknown) => typeof value === 'object' && value !== null && 'resend' in value

/** Calls a method by its path. */
function call(name: string, args: unknown[]): Promise<Outcome> {
  const steps = name.split('.')
  let part: Record<string, unknown> = resend as never
  for (const step of steps.slice(0, -1)) part = part[step] as never
  return (part[steps.at(-1)!] as (...args: unknown[]) => Promise<Outcome>).call(part, ...args)
}

test('the tests call every method of the package', () => {
  const walked = [...Object.keys(ANSWERED), ...Object.keys(REFUSED)]
  expect(walked.toSorted()).toEqual(methodsOf(resend, '').toSorted())
})

describe('is supported:', () => {
  test.each(Object.keys(ANSWERED))('%s', async (name) => {
    const { data, error } = await ANSWERED[name]!()
    expect({ name, error }).toEqual({ name, error: null })
    expect(data).toBeObject()
  })
})

describe('is not supported, and the answer says so:', () => {
  test.each(Object.keys(REFUSED))('%s', async (name) => {
    const { error } = await call(name, REFUSED[name]!)
    expect(error).toEqual({
      statusCode: 404,
      name: 'not_found',
      message: expect.stringMatching(/ are not supported\. .+migration/),
    })
  })
})

test('the answer about an unsupported method requires a key, and only that', async () => {
  const metrics = `${resend.baseUrl}/emails/metrics`
  expect((await fetch(metrics)).status).toBe(401)
  const { data } = await resend.apiKeys.create({ name: 'sender', permission: 'sending_access' })
  const answer = await fetch(metrics, { headers: { authorization: `Bearer ${data!.token}` } })
  expect([answer.status, (await answer.json()) as unknown]).toMatchObject([404, { name: 'not_found' }])
})

test('the table of the manual lists each method once, with the status that it gets', async () => {
  const page = await Bun.file(new URL('../../src/web/manual/from-resend.md', import.meta.url)).text()
  const table = page.split('<!-- methods of npm’s resend -->')[1]!.split('<!-- end of the methods -->')[0]!
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const statuses = rows.flatMap((row) => {
    const [, methods, status] = row.split('|').map((cell) => cell.trim())
    return methods!.split(' ').map((method) => [method.replaceAll('`', ''), status] as const)
  })
  const inTable = (name: string) => statuses.filter(([each]) => each === name || covers(each, name))
  for (const name of Object.keys(ANSWERED)) expect([name, inTable(name)]).toEqual([name, [[name, '200']]])
  for (const name of Object.keys(REFUSED)) {
    expect([name, inTable(name).map(([, status]) => status)]).toEqual([name, ['404']])
  }
  const walked = [...Object.keys(ANSWERED), ...Object.keys(REFUSED)]
  const unknown = statuses.filter(([each]) => !walked.some((name) => each === name || covers(each, name)))
  expect(unknown).toEqual([])
})

/** True if a table entry includes a method: `contacts.*` includes `contacts.imports.list`. */
const covers = (entry: string, name: string) => entry.endsWith('.*') && name.startsWith(entry.slice(0, -1))
