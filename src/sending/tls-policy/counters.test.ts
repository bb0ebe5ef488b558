import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { TlsCount, TlsSession } from '../../model/tls-session.ts'
import { createTlsCounters } from './counters.ts'

const DAY = 86_400_000
const GOOD: TlsSession = {
  policy: 'none',
  host: 'mx1.example',
  address: '192.0.2.1',
  source: null,
  failure: null,
}
const BAD: TlsSession = { ...GOOD, failure: 'certificate-expired' }

function open() {
  const clock = createFakeClock(10 * DAY + 5)
  const added: TlsCount[][] = []
  const state = { fails: false }
  const counters = createTlsCounters({
    clock,
    store: {
      tlsSessions: {
        add: async (counts: readonly TlsCount[]) => {
          if (state.fails) throw new Error('busy')
          added.push([...counts])
        },
      },
    } as never, // the counters use nothing else of the store
  })
  return { clock, added, state, counters }
}

test('successes count by policy, failures by host and address, each by domain and day', async () => {
  const { clock, added, counters } = open()
  counters.count('a.example', GOOD)
  counters.count('a.example', { ...GOOD, host: 'mx2.example' })
  counters.count('a.example', BAD)
  counters.count('a.example', { ...BAD, host: 'mx2.example' })
  counters.count('b.example', GOOD)
  clock.jump(DAY)
  counters.count('b.example', GOOD)
  await counters.flush()
  const rows = added[0]?.map(({ domain, day, host, failure, sessions }) => [domain, day / DAY, host, failure, sessions])
  expect(rows).toEqual([
    ['a.example', 10, null, null, 2],
    ['a.example', 10, 'mx1.example', 'certificate-expired', 1],
    ['a.example', 10, 'mx2.example', 'certificate-expired', 1],
    ['b.example', 10, null, null, 1],
    ['b.example', 11, null, null, 1],
  ])
})

test('counts that the store does not accept are added to the next ones', async () => {
  const { added, state, counters } = open()
  counters.count('a.example', GOOD)
  state.fails = true
  await expect(counters.flush()).rejects.toThrow('busy')
  state.fails = false
  counters.count('a.example', GOOD)
  await counters.flush()
  await counters.flush()
  expect(added.map((counts) => counts.map(({ sessions }) => sessions))).toEqual([[2]])
})

test('between two flushes at most 20,000 kinds are counted', async () => {
  const { added, counters } = open()
  for (let n = 0; n < 20_010; n++) counters.count(`d${n}.example`, GOOD)
  counters.count('d0.example', GOOD)
  await counters.flush()
  expect(added[0]).toHaveLength(20_000)
  expect(added[0]?.[0]?.sessions).toBe(2)
})
