import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { checkSeparation } from '../../src/operating/health/separation.ts'
import { createReaderStarter } from '../../src/server/inbound-readers.ts'
import { openReaders } from './reader-setup.ts'
import { mail, startMailZone } from './signed-mail.ts'

let zone: Zone
beforeAll(async () => {
  zone = await startMailZone()
})
afterAll(() => zone.stop())

test.each([
  ['ends at once', ['/bin/false']],
  ['is missing', ['/no/such/program']],
])('where the process %s, a thread reads the mail, and the log says so', async (_, command) => {
  const said: unknown[] = []
  const starter = createReaderStarter({
    command,
    onSeparation: (kind, landlock, why) => said.push([kind, landlock, why]),
  })
  const readers = openReaders(zone, { start: starter.start })
  const { head, parseError } = await readers.read({
    raw: new Uint8Array(mail(['From: a@a.test', 'Subject: all the same'])),
    envelope: { remoteAddress: '127.0.0.1', helo: 'x', returnPath: '', recipients: [], protocol: 'SMTP', tls: null },
    receivedAt: 0,
    seals: [],
    forwardHeader: null,
  })
  expect({ subject: head.subject, parseError }).toEqual({ subject: 'all the same', parseError: null })
  expect(said).toEqual([['thread', 0, expect.any(String)]])
  await readers.stop()
  const probed = await starter.probe()
  expect(probed).toMatchObject({ kind: 'thread', landlock: 0, broken: [] })
  expect(await checkSeparation(true, async () => probed)).toMatchObject({
    status: 'warn',
    message: expect.stringMatching(/^thread: inbound mail is parsed inside the server process \(.+\)$/),
  })
})

test('the health check names the kind of reader, and warns of all but a working confined process', async () => {
  const found = { landlock: 7, why: null, broken: [] }
  const statusOf = async (kind: 'confined' | 'filtered' | 'process', broken: string[] = []) =>
    (await checkSeparation(true, async () => ({ ...found, kind, broken }))).status
  expect(await statusOf('confined')).toBe('pass')
  expect(await statusOf('filtered')).toBe('warn')
  expect(await statusOf('process')).toBe('warn')
  expect(await statusOf('confined', ['open a file'])).toBe('warn')
  expect((await checkSeparation(false, () => Promise.reject(new Error('asked')))).status).toBe('skip')
})
