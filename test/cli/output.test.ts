import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localUser } from '../../src/cli/local-user.ts'
import { startZone } from '../../src/cli/try/zone-server.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** Text output of the commands. Each test runs a series on one installation and compares its output with a file. */

const postrider = postriderInOneProcess()
const places: ReturnType<typeof testFolder>[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

/** Creates an installation and returns a function that runs commands and stores their output. `config` extends
 *  the config file. */
function open(config = '') {
  const place = testFolder(config)
  places.push(place)
  place.writeConfig()
  const lines: string[] = []
  /** Runs a command → its standard output. */
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await postrider(...args, '--config', place.file)
    lines.push(stable(`$ postrider ${args.join(' ')}\n${stdout}${stderr}exit code ${code}\n`, place.folder))
    return stdout
  }
  return { place, run, text: () => lines.join('\n') }
}

/** Replaces values that differ between runs with placeholders; table columns keep their widths. */
function stable(text: string, folder: string): string {
  return text
    .replaceAll(folder, 'FOLDER')
    .replaceAll(`operator ${localUser()}`, 'operator USER')
    .replace(/\b(svc_live_|svc_test_|whsec_)[\w+/=-]+/g, (_, prefix) => `${prefix}VALUE`)
    .replace(/\b([a-z]+)_[0-9A-Za-z]{20,}/g, (found, prefix) => `${prefix}_`.padEnd(found.length, 'x'))
    .replace(/\b(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(\.\d+Z)?/g, (found) => 'TIME'.padEnd(found.length, '.'))
    .replace(/\bpr\d{4}\w{6}([re])\b/g, 'prYYMMxxxxxx$1')
    .replace(/\bp=[A-Za-z0-9+/=]{40,}/g, 'p=KEY')
    .replace(/verify=[0-9a-f]{32}/g, 'verify=TOKEN')
    .replace(/reports-[0-9a-f]{20}/g, 'reports-TOKEN')
    .replace(/#token=\w+/g, '#token=TOKEN')
    .replace(/\b\d+(\.\d+)? (ms|s)\b/g, 'DURATION')
    .replace(/[ \t]+$/gm, '')
}

/** The first ID of a kind, such as `msg`, that a command printed. */
const idIn = (output: string, kind: string) => output.match(new RegExp(`\\b${kind}_[0-9A-Za-z]{20,}`))?.[0] ?? ''

test('organizations, domains and keys', async () => {
  const { run, text } = open()
  await run('org', 'list')
  await run('org', 'create', 'Shop', '--plan', 'free')
  await run('org', 'set-plan', 'Shop', 'pro')
  await run('org', 'list')
  await run('domain', 'list')
  await run('domain', 'add', 'shop.example', '--org', 'Shop')
  await run('domain', 'list')
  await run('domain', 'show', 'shop.example')
  await run('domain', 'dmarc', 'shop.example')
  await run('dns', 'show', 'shop.example')
  await run('key', 'list')
  const created = await run('key', 'create', '--domain', 'shop.example', '--permission', 'send', '--name', 'web shop')
  await run('key', 'list')
  await run('key', 'revoke', idIn(created, 'key'))
  await run('key', 'list')
  await run('domain', 'rotate-dkim', 'shop.example')
  await run('login-link')
  await run('audit', '--org', 'Shop')
  expect(text()).toMatchSnapshot()
})

test('the senders of a domain', async () => {
  const { place, run, text } = open()
  await run('org', 'create', 'Shop', '--plan', 'pro')
  await run('domain', 'add', 'shop.example', '--org', 'Shop')
  const now = Date.now()
  const store = await openStore({ dataDir: place.dataDir, now })
  const [organization] = await store.organizations.list()
  const { records } = await store.domains.list(organization!.id, { limit: 1, after: null })
  const counts = { spfAligned: 0, dkimAligned: 40, passed: 40, quarantined: 0, rejected: 2 }
  await store.policyReports.add({
    organizationId: organization!.id,
    domainId: records[0]!.id,
    reporter: 'google.com',
    reportId: '1',
    receivedAt: now,
    beginsAt: now - 86_400_000,
    endsAt: now,
    content: { kind: 'dmarc', sources: [{ sourceIp: '192.0.2.1', messages: 42, ...counts }] },
  })
  await store.close()
  await run('domain', 'dmarc', 'shop.example')
  const { totals } = JSON.parse((await run('domain', 'dmarc', 'shop.example', '--json')) || '{}')
  expect(totals).toMatchObject({ messages: 42, passed: 40, reports: 1 })
  expect(text()).toMatchSnapshot()
})

test('messages and events', async () => {
  const zone = await startZone()
  const { run, text } = open(`[dns]\nservers = ["${zone.address}"]\n`)
  await run('org', 'create', 'Shop', '--plan', 'pro')
  await run('domain', 'add', 'shop.example', '--org', 'Shop')
  await run('message', 'list')
  const sent = await run(
    ...['send', '--mode', 'test', '--from', 'Shop <shop@shop.example>', '--to', 'ann@customer.example'],
    ...['--subject', 'Your order', '--text', 'Thank you.'],
  )
  const id = idIn(sent, 'msg')
  await run('message', 'list')
  await run('message', 'show', id)
  await run('message', 'explain', id)
  await run('message', 'cancel', id)
  await run('message', 'list', '--status', 'bounced')
  await run('event', 'list')
  await run('explain', '--to', 'ann@customer.example')
  await run('status')
  await zone.stop()
  expect(text()).toMatchSnapshot()
})

test('webhooks, suppressions and links', async () => {
  const { place, run, text } = open()
  await run('org', 'create', 'Shop', '--plan', 'pro')
  await run('webhook', 'list')
  const id = idIn(
    await run('webhook', 'create', '--url', 'https://shop.example/hooks', '--description', 'orders'),
    'whk',
  )
  await run('webhook', 'list')
  await run('webhook', 'show', id)
  await run('webhook', 'pause', id)
  await run('webhook', 'resume', id)
  await run('webhook', 'deliveries', id)
  await run('webhook', 'rotate-secret', id)
  await run('webhook', 'delete', id)
  const file = join(place.folder, 'suppressed.csv')
  writeFileSync(file, 'email,reason\nann@customer.example,hard_bounce\nno address,hard_bounce\n')
  await run('import', 'suppressions', file, '--dry-run')
  await run('import', 'suppressions', file)
  await run('suppression', 'list')
  await run('suppression', 'remove', 'ann@customer.example')
  await run('suppression', 'list')
  await run('recipient', 'erase', 'ann@customer.example')
  await run('recipient', 'list')
  await run('link', 'list')
  await run('link', 'block', 'evil.example', '--reason', 'phishing')
  await run('link', 'list')
  await run('link', 'unblock', 'evil.example')
  await run('config', 'check')
  await run('config', 'print')
  expect(text()).toMatchSnapshot()
})

test('canary messages', async () => {
  const { place, run, text } = open()
  await run('canary', 'list')
  await run('canary', 'run')
  const config = readFileSync(place.file, 'utf8').replace('listen = "off"', 'listen = "127.0.0.1:0"')
  const seed =
    'name = "provider"\naddress = "seed@provider.example"\nhost = "imap.provider.example"\npassword_file = "p"\n'
  writeFileSync(join(place.folder, 'p'), 'secret\n', { mode: 0o600 })
  const from = '[canary]\nevery_minutes = 15\nfrom = "canary@shop.example"\n'
  writeFileSync(place.file, `${config}${from}[[canary.mailboxes]]\n${seed}`)
  await run('canary', 'list')
  await run('org', 'create', 'Shop', '--plan', 'pro')
  await run('canary', 'run')
  writeFileSync(place.file, `[sending]\nrequire_verified_domain = false\n`, { flag: 'a' })
  await run('domain', 'add', 'shop.example')
  const sent = JSON.parse(await run('canary', 'run', '--json'))
  expect(sent.data.map(({ mailbox, result }: { mailbox: string; result: string }) => [mailbox, result])).toEqual([
    ['self', 'pending'],
    ['provider', 'pending'],
  ])
  const store = await openStore({ dataDir: place.dataDir, now: Date.now() })
  for (const [at, { id, sent_at }] of sent.data.entries()) {
    const arrivedAt = Date.parse(sent_at) + 4_000
    await store.canaries.record(id, { result: at === 0 ? 'inbox' : 'spam', arrivedAt, detail: null })
  }
  await store.close()
  await run('canary', 'list')
  const { data } = JSON.parse(await run('canary', 'list', '--json'))
  expect(data.map(({ mailbox, address }: { mailbox: string; address: string }) => [mailbox, address])).toEqual([
    ['self', null],
    ['provider', 'seed@provider.example'],
  ])
  expect(text()).toMatchSnapshot()
})

test('JSON, of every command that has it', async () => {
  const { place, run, text } = open()
  await run('org', 'create', 'Shop', '--plan', 'pro', '--json')
  await run('org', 'set-plan', 'Shop', 'free', '--json')
  await run('org', 'list', '--json')
  await run('domain', 'add', 'shop.example', '--json')
  await run('domain', 'list', '--json')
  await run('domain', 'show', 'shop.example', '--json')
  await run('dns', 'show', 'shop.example', '--json')
  const key = idIn(await run('key', 'create', '--domain', 'shop.example', '--permission', 'send', '--json'), 'key')
  await run('key', 'list', '--json')
  await run('key', 'revoke', key, '--json')
  const webhook = idIn(await run('webhook', 'create', '--url', 'https://shop.example/hooks', '--json'), 'whk')
  await run('webhook', 'list', '--json')
  await run('webhook', 'show', webhook, '--json')
  await run('webhook', 'pause', webhook, '--json')
  await run('webhook', 'deliveries', webhook, '--json')
  await run('webhook', 'rotate-secret', webhook, '--json')
  await run('webhook', 'delete', webhook, '--json')
  const file = join(place.folder, 'suppressed.csv')
  writeFileSync(file, 'email,reason\nann@customer.example,hard_bounce\n')
  await run('import', 'suppressions', file, '--json')
  await run('suppression', 'list', '--json')
  await run('suppression', 'remove', 'ann@customer.example', '--json')
  await run('link', 'block', 'evil.example', '--reason', 'phishing', '--json')
  await run('link', 'list', '--json')
  await run('link', 'unblock', 'evil.example', '--json')
  await run('message', 'list', '--json')
  await run('event', 'list', '--json')
  await run('status', '--json')
  await run('audit', '--json')
  await run('login-link', '--json')
  expect(text()).toMatchSnapshot()
})
