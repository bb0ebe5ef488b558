import { expect, test } from 'bun:test'
import type { QualityFigures } from '../../model/quality.ts'
import { judgeQuality, measure } from './quality.ts'

const THRESHOLDS = { bounceRate: 0.05, complaintRate: 0.003, minSent: 100 }
const GOOD: QualityFigures = { sent: 1000, hardBounced: 0, delivered: 1000, complained: 0 }

const judged = (change: Partial<QualityFigures>, isFiring: boolean) =>
  Object.fromEntries(
    measure({ ...GOOD, ...change }, THRESHOLDS).map((each) => [each.metric, judgeQuality(each, THRESHOLDS, isFiring)]),
  )

const CASES: [what: string, figures: Partial<QualityFigures>, isFiring: boolean, bounce: string | null][] = [
  ['at the threshold no alert starts', { hardBounced: 50 }, false, null],
  ['above it an alert starts', { hardBounced: 51 }, false, 'raise'],
  ['an active alert does not start again', { hardBounced: 51 }, true, null],
  ['just below the threshold it stays active', { hardBounced: 49 }, true, null],
  ['at four fifths it stays active', { hardBounced: 40 }, true, null],
  ['below four fifths it ends', { hardBounced: 39 }, true, 'resolve'],
  ['below four fifths no alert starts', { hardBounced: 39 }, false, null],
  ['one mail below the minimum starts none', { sent: 99, hardBounced: 99 }, false, null],
  ['the minimum of mails starts one', { sent: 100, hardBounced: 6 }, false, 'raise'],
  ['below the minimum it stays active', { sent: 99, hardBounced: 99 }, true, null],
  ['with half the minimum it stays active', { sent: 50, hardBounced: 50 }, true, null],
  ['with less than half the minimum it ends', { sent: 49, hardBounced: 49 }, true, 'resolve'],
  ['without mail it ends', { sent: 0, hardBounced: 0 }, true, 'resolve'],
  ['no mail starts none', { sent: 0, hardBounced: 0 }, false, null],
]

test.each(CASES)('%s', (_, figures, isFiring, bounce) => {
  expect(judged(figures, isFiring).bounce_rate).toBe(bounce as never)
})

test('measures complaints per delivered mail and bounces per sent mail', () => {
  const figures = { sent: 200, hardBounced: 20, delivered: 100, complained: 1 }
  expect(measure(figures, THRESHOLDS)).toEqual([
    { metric: 'bounce_rate', value: 0.1, threshold: 0.05, sent: 200, affected: 20 },
    { metric: 'complaint_rate', value: 0.01, threshold: 0.003, sent: 200, affected: 1 },
  ])
  expect(judged(figures, false)).toEqual({ bounce_rate: 'raise', complaint_rate: 'raise' })
})

test('complaints about earlier mail never exceed a rate of one', () => {
  expect(measure({ sent: 5, hardBounced: 0, delivered: 5, complained: 9 }, THRESHOLDS)[1]!.value).toBe(1)
  expect(measure({ sent: 0, hardBounced: 0, delivered: 0, complained: 9 }, THRESHOLDS)[1]!.value).toBe(0)
})

test('an alert with threshold zero ends when nothing bounces any more', () => {
  const measured = { metric: 'bounce_rate' as const, threshold: 0, affected: 0 }
  expect(judgeQuality({ ...measured, value: 0.001, sent: 100 }, THRESHOLDS, false)).toBe('raise')
  expect(judgeQuality({ ...measured, value: 0.001, sent: 100 }, THRESHOLDS, true)).toBeNull()
  expect(judgeQuality({ ...measured, value: 0, sent: 100 }, THRESHOLDS, true)).toBe('resolve')
})

test('a rate that fluctuates around its threshold raises one alert', () => {
  const raised: string[] = []
  let isFiring = false
  for (let n = 0; n < 50; n++) {
    const judgement: string | null = judged({ hardBounced: n % 2 === 0 ? 51 : 49 }, isFiring).bounce_rate!
    if (judgement === null) continue
    raised.push(judgement)
    isFiring = judgement === 'raise'
  }
  expect(raised).toEqual(['raise'])
})
