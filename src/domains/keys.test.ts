import { expect, test } from 'bun:test'
import type { DkimState } from '../model/domain.ts'
import { endedSelectors, retirementMs } from './keys.ts'

const DAY = 86_400_000

const key = (selector: string, state: DkimState, since: number | null) => ({
  selector,
  algorithm: 'rsa-sha256' as const,
  state,
  publicKey: '',
  privateKeyPem: '',
  createdAt: DAY,
  since,
})

test('ends retiring keys once they signed nothing for the time that mail may be in transit', () => {
  const dkim = [
    key('a', 'retiring', 2 * DAY),
    key('b', 'retiring', null),
    key('c', 'active', 0),
    key('d', 'pending', 0),
  ]
  expect(endedSelectors({ dkim }, 8 * DAY - 1, 7 * DAY)).toEqual([])
  expect(endedSelectors({ dkim }, 8 * DAY, 7 * DAY)).toEqual(['b'])
  expect(endedSelectors({ dkim }, 9 * DAY, 7 * DAY)).toEqual(['a', 'b'])
})

test('keys stay published for a week, or five days longer than a message may wait', () => {
  expect(retirementMs(DAY)).toBe(7 * DAY)
  expect(retirementMs(30 * DAY)).toBe(35 * DAY)
})
