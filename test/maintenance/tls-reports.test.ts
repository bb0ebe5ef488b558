import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import type { Lookup } from '../../src/net/dns/resolver.ts'
import { createTlsReports } from '../../src/operating/maintenance/tls-reports.ts'
import { silentLog } from '../../src/os/log.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

const DAY = 86_400_000
const TODAY = Date.UTC(2026, 10, 21)
const COUNT = { domain: 'told.test', policy: 'none', host: null, address: null, source: null, failure: null } as const

/** A finished day of told.test, and its DNS record. */
async function open(txt: Lookup<string>, from = 'tls@acme.test') {
  const store = await openMemoryStore()
  await store.tlsSessions.add([{ ...COUNT, day: TODAY - DAY, sessions: 3 }])
  const posts: { url: string; type: string | undefined; report: Record<string, unknown> }[] = []
  const reports = createTlsReports({
    store,
    resolver: { txt: async () => txt },
    submission: { submit: () => Promise.reject(new Error('no mail in this test')) },
    post: async (url, { headers, body }) => {
      const report = JSON.parse(gunzipSync(body as Uint8Array).toString())
      posts.push({ url, type: headers['Content-Type'], report })
      return { kind: 'answered', status: 200, retryAfterSeconds: null, location: null, excerpt: '', durationMs: 1 }
    },
    reporter: { organization: 'Acme', contact: 'tls@acme.test', submitter: 'mail.acme.test' },
    from,
    log: silentLog,
  })
  const isLeft = async () => (await store.tlsSessions.of('told.test', TODAY - DAY)).length > 0
  return { reports, posts, isLeft, [Symbol.asyncDispose]: () => store.close() }
}

const asks = (text: string): Lookup<string> => ({
  kind: 'records',
  records: [text],
  ttlSeconds: 60,
  authentic: false,
})
const NOON = TODAY + DAY / 2

test('a report goes out by HTTPS, also where the mail cannot be sent, and only once', async () => {
  await using w = await open(asks('v=TLSRPTv1; rua=mailto:a@told.test,https://told.test/tls'))
  await w.reports.send(NOON)
  await w.reports.send(NOON)
  expect(w.posts).toMatchObject([
    {
      url: 'https://told.test/tls',
      type: 'application/tlsrpt+gzip',
      report: {
        'organization-name': 'Acme',
        'report-id': '2026-11-20.told.test@mail.acme.test',
        policies: [
          {
            policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'told.test' },
            summary: { 'total-successful-session-count': 3, 'total-failure-session-count': 0 },
          },
        ],
      },
    },
  ])
  expect(await w.isLeft()).toBe(false)
})

test('no report is sent in the first hour of the next day', async () => {
  await using w = await open(asks('v=TLSRPTv1; rua=https://told.test/tls'))
  await w.reports.send(TODAY + 59 * 60_000)
  expect(w.posts).toEqual([])
  await w.reports.send(TODAY + 60 * 60_000)
  expect(w.posts).toHaveLength(1)
})

test('a domain that asks for no report is dropped, one whose DNS fails waits for two days', async () => {
  for (const [txt, now, isLeft] of [
    [{ kind: 'nxdomain' }, NOON, false],
    [asks('v=spf1 -all'), NOON, false],
    [{ kind: 'temporary', reason: 'timeout' }, NOON, true],
    [{ kind: 'temporary', reason: 'timeout' }, NOON + 2 * DAY, false],
  ] as const) {
    await using w = await open(txt as Lookup<string>)
    await w.reports.send(now)
    expect([w.posts.length, await w.isLeft()]).toEqual([0, isLeft])
  }
})

test('counts are dropped when reports are turned off', async () => {
  await using w = await open(asks('v=TLSRPTv1; rua=https://told.test/tls'), '')
  await w.reports.send(NOON)
  expect([w.posts.length, await w.isLeft()]).toEqual([0, false])
})
