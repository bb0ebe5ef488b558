import { expect, test } from 'bun:test'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createNotifier } from './notifier.ts'

test('a listener is called for its topic only, each time, until it stops', () => {
  const notifier = createNotifier(createFakeClock(0).sleep)
  const calls: string[] = []
  const stop = notifier.on('deliveries', () => calls.push('first'))
  notifier.on('deliveries', () => calls.push('second'))
  notifier.notify('deliveries')
  notifier.notify('webhook deliveries')
  notifier.notify('message msg_1')
  stop()
  stop()
  notifier.notify('deliveries')
  expect(calls).toEqual(['first', 'second', 'second'])
})

test('a wait ends at the notification, or at its timeout', async () => {
  const clock = createFakeClock(0)
  const notifier = createNotifier(clock.sleep)
  const ends: string[] = []
  const wait = async (id: string) => {
    await notifier.wait(`message ${id}`, 1_000)
    ends.push(`${id} ${clock.now()}`)
  }
  const waits = [wait('a'), wait('b')]
  notifier.notify('message a')
  await clock.advance(2_000)
  await Promise.all(waits)
  expect(ends).toEqual(['a 0', 'b 1000'])
})

test('a listener that stops while it is called harms no other', () => {
  const notifier = createNotifier(createFakeClock(0).sleep)
  let calls = 0
  const stop = notifier.on('events of org_1', () => stop())
  notifier.on('events of org_1', () => void calls++)
  notifier.notify('events of org_1')
  notifier.notify('events of org_1')
  expect(calls).toBe(2)
})
