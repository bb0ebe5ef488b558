import { expect, test } from 'bun:test'
import { createByteBudget } from './byte-budget.ts'

/** Notes the order in which shares are given. */
function asked(budget: ReturnType<typeof createByteBudget>, wanted: Record<string, number>) {
  const given: string[] = []
  const release: Record<string, () => void> = {}
  for (const [name, bytes] of Object.entries(wanted)) {
    void budget.take(bytes).then((giveBack) => {
      given.push(name)
      release[name] = giveBack
    })
  }
  return { given, release }
}

test('shares are given in the order they were asked for, also when a later one would fit', async () => {
  const { given, release } = asked(createByteBudget(100), { a: 60, b: 60, c: 10, d: 40 })
  await Bun.sleep(0)
  expect(given).toEqual(['a'])
  release.a!()
  await Bun.sleep(0)
  expect(given).toEqual(['a', 'b', 'c'])
  release.c!()
  release.c!() // twice is harmless
  await Bun.sleep(0)
  expect(given).toEqual(['a', 'b', 'c', 'd'])
})

test('more than there is counts as all there is', async () => {
  const budget = createByteBudget(100)
  const release = await budget.take(1_000)
  expect(budget.tryTake(1)).toBeNull()
  release()
  expect(budget.tryTake(100)).not.toBeNull()
})

test('who will not wait gets nothing while others wait', async () => {
  const budget = createByteBudget(100)
  const release = await budget.take(50)
  const { given } = asked(budget, { large: 80 })
  expect(budget.tryTake(10)).toBeNull()
  release()
  await Bun.sleep(0)
  expect(given).toEqual(['large'])
})
