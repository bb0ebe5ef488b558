import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Greeting } from '../../src/operating/health/deps.ts'
import { clearVerdicts, startTestMachine, type TestMachine, verdictTexts } from './setup.ts'

beforeAll(clearVerdicts)

let machine: TestMachine
beforeAll(async () => {
  machine = await startTestMachine()
})
afterAll(() => machine.stop())

const check = (greeting: Partial<Greeting>) => {
  const greetRelay = async () => ({ isReached: true, problem: null, words: '', durationMs: 12, ...greeting })
  const installation = { smarthost: { host: 'smtp.example', port: 587 } }
  return machine.check('smarthost', { installation, deps: { greetRelay } })
}

test('the smarthost accepts our login, refuses it, or is unreachable', async () => {
  expect(await check({})).toMatchObject({ status: 'pass', message: 'smtp.example:587 accepts our login, after 12 ms' })
  const refused = await check({ problem: 'authentication failed: 535 5.7.8 no' })
  expect(refused).toMatchObject({ status: 'fail' })
  expect(refused.advice).toContain('percent-encoded')
  const unproven = await check({ problem: 'password not sent: the certificate of [10.0.0.1]:587 is not verified' })
  expect(unproven.advice).toContain('delivery.smarthost_certificates')
  const silent = await check({ isReached: false, problem: 'cannot connect to 192.0.2.1:587: timed out' })
  expect(silent.advice).toContain('2525')
  expect(await machine.check('smarthost')).toMatchObject({ status: 'skip' })
})

test('messages state what was found, and advice what to do', () => {
  expect(verdictTexts()).toMatchSnapshot()
})
