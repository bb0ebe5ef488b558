import { expect, test } from 'bun:test'
import { checkZoneUpdate, type ZoneUpdateState } from '../../src/health/zone-update.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const MINUTE = 60_000
const GOOD: ZoneUpdateState = { succeededAt: NOW - MINUTE, failure: null, foreign: [] }

const check = (state: ZoneUpdateState | null, problem: string | null = null) =>
  checkZoneUpdate({ zone: 'pm.example.net', server: '192.0.2.53:53', state, probe: async () => problem, now: NOW })

test('the check is skipped without dns.update', async () => {
  expect((await checkZoneUpdate(null)).status).toBe('skip')
})

test('a server that takes updates passes, with the last success of this process', async () => {
  expect(await check(null)).toMatchObject({
    status: 'pass',
    message: '192.0.2.53:53 takes updates of pm.example.net',
  })
  expect((await check(GOOD)).message).toEndWith('; last success 2026-11-21T11:59:00.000Z')
})

test('a server that refuses fails at once where nothing else is known', async () => {
  const verdict = await check(null, 'the name server refuses the update: REFUSED')
  expect(verdict).toMatchObject({
    status: 'fail',
    message: '192.0.2.53:53 does not take updates of pm.example.net: the name server refuses the update: REFUSED',
  })
  expect(verdict.advice).toContain('dns-once')
})

test('failures are a warning, and after half an hour an error, with the last reason', async () => {
  const failing = (minutes: number) =>
    check({ ...GOOD, failure: { since: NOW - minutes * MINUTE, at: NOW, message: 'BADSIG: other secret' } })
  expect((await failing(29)).status).toBe('warn')
  expect(await failing(30)).toMatchObject({
    status: 'fail',
    message: 'pm.example.net is not written to 192.0.2.53:53 since 2026-11-21T11:30:00.000Z: BADSIG: other secret',
  })
})

test('names of somebody else are a warning', async () => {
  const { status, message } = await check({ ...GOOD, foreign: ['aaaabbbbccccdddd', 'b'] })
  expect(status).toBe('warn')
  expect(message).toContain('aaaabbbbccccdddd.pm.example.net')
  expect(message).toEndWith(', and 1 more')
})
