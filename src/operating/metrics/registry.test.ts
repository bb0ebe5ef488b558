import { expect, test } from 'bun:test'
import { createRegistry } from './registry.ts'

test('buckets are cumulative, and a value on a bound is inside it', () => {
  const registry = createRegistry()
  const seconds = registry.histogram('wait_seconds', 'Waits.', [0.5, 1])
  for (const value of [0.25, 0.5, 0.75, 7]) seconds(value)
  expect(registry.text()).toBe(`# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="0.5"} 2
wait_seconds_bucket{le="1"} 3
wait_seconds_bucket{le="+Inf"} 4
wait_seconds_sum 8.5
wait_seconds_count 4
`)
})

test('label values are escaped, and each combination is a separate line', () => {
  const registry = createRegistry()
  const count = registry.counter('asked_total', 'Asked.', ['what', 'how'])
  count(['a"b\\c\nd', 'x'])
  count(['a', 'x'], 2)
  count(['a', 'x'])
  expect(registry.text()).toContain('asked_total{what="a\\"b\\\\c\\nd",how="x"} 1\nasked_total{what="a",how="x"} 3\n')
})

test('a gauge that cannot be read is left out, and the others stay', () => {
  const registry = createRegistry()
  registry.gauge('broken', 'Broken.', () => {
    throw new Error('no such file')
  })
  registry.gauge('whole', 'Whole.', () => 1)
  expect(registry.text()).toBe('# HELP whole Whole.\n# TYPE whole gauge\nwhole 1\n')
})
