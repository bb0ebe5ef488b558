import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../../src/config/load.ts'
import { checkCanary } from '../../src/operating/health/canary.ts'
import { systemClock } from '../../src/os/clock.ts'
import { silentLog } from '../../src/os/log.ts'
import { probeMailboxes } from '../../src/server/canary.ts'
import { describeWithDovecot, startDovecot, type TestDovecot } from '../support/dovecot.ts'
import { freePort } from '../support/free-port.ts'
import { startImapServer } from '../support/imap-server.ts'

/** The health check of canary mailboxes, with servers that it really asks. */

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-canary-check-'))
  writeFileSync(join(folder, 'password'), 'let me in\n', { mode: 0o600 })
})
afterEach(() => rmSync(folder, { recursive: true }))

const check = (...mailboxes: object[]) => {
  const common = { address: 'seed@mailbox.example', username: 'seed', password_file: join(folder, 'password') }
  const config = makeConfig({
    hostname: 'mail.example.com',
    data_dir: folder,
    canary: { mailboxes: mailboxes.map((mailbox, at) => ({ ...common, name: `seed-${at}`, ...mailbox })) as never },
  })
  return checkCanary({
    everyMinutes: 15,
    from: 'canary@example.com',
    find: async () => ({}) as never,
    isReady: () => true,
    unreadable: () => [],
    probe: () => probeMailboxes(config, { clock: systemClock.steady, log: silentLog, timeoutMs: 40_000 }),
  })
}

describeWithDovecot('a mailbox of Dovecot', () => {
  let dovecot: TestDovecot
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())
  const mailbox = (change: object = {}) => ({
    host: 'localhost',
    port: dovecot.tlsPort,
    ca_file: dovecot.caFile,
    ...change,
  })

  test('is fine if login and folders work, by TLS and by STARTTLS', async () => {
    expect(await check(mailbox(), mailbox({ tls: 'starttls', port: dovecot.port }))).toEqual({
      status: 'pass',
      message: 'canary messages go every 15 minutes from canary@example.com; seed-0, seed-1 can be read',
      advice: null,
    })
  })

  test('is named with the reason if not, without the password', async () => {
    const unheard = await freePort()
    writeFileSync(join(folder, 'wrong'), 'let me out\n', { mode: 0o600 })
    writeFileSync(join(folder, 'open'), 'let me in\n', { mode: 0o644 })
    const { status, message, advice } = await check(
      mailbox({ password_file: join(folder, 'wrong') }),
      mailbox({ port: unheard }),
      mailbox({ folder: 'Incoming' }),
      mailbox({ spam_folder: 'Bulk' }),
      mailbox({ ca_file: undefined }),
      mailbox({ password_file: join(folder, 'missing') }),
      mailbox({ password_file: join(folder, 'open') }),
      mailbox(),
    )
    expect(status).toBe('warn')
    const reasons = message.replace('canary: cannot read ', '').split('; ')
    expect(reasons).toEqual([
      expect.stringMatching(/^seed-0: login failed: /),
      expect.stringMatching(/^seed-1: .*ECONNREFUSED/),
      expect.stringMatching(/^seed-2: folder Incoming: Mailbox doesn't exist: Incoming/),
      expect.stringMatching(/^seed-3: folder Bulk: Mailbox doesn't exist: Bulk/),
      expect.stringMatching(/^seed-4: .*certificate/),
      expect.stringMatching(/^seed-5: .*ENOENT/),
      expect.stringMatching(/^seed-6: .*only its owner can read/),
    ])
    expect(message).not.toContain('let me')
    expect(advice).toContain('[[canary.mailboxes]]')
  })
})

test('a server that marks no folder for spam is named', async () => {
  const server = await startImapServer({
    at: { LIST: ({ tag, socket }) => socket.write(`* LIST () "/" INBOX\r\n${tag} OK\r\n`) },
  })
  const mailbox = { host: '127.0.0.1', port: server.port, tls: 'none' }
  expect(await check(mailbox, { ...mailbox, spam_folder: 'Bulk' })).toMatchObject({
    status: 'warn',
    message: expect.stringMatching(/^canary: the server of seed-0 marks no folder/),
    advice: expect.stringContaining('spam_folder'),
  })
  await server.stop()
})
