import { expect, test } from 'bun:test'
import { DueIndex } from '../due-index.ts'
import { Announcements } from './announcements.ts'
import type { Offer } from './wake-ups.ts'

/** What a node with these due indexes sends, at times that a test sets. */
function open() {
  const due = {
    deliveries: new DueIndex(),
    webhookDeliveries: new DueIndex(),
    inboundDeliveries: new DueIndex(),
  }
  const sent: Offer[] = []
  const announcements = new Announcements(due, { offer: (each) => sent.push(each) })
  let now = 1_000
  /** Something of the key is due here. */
  const offer = (key: string, at: number) => {
    due.deliveries.offer(key, at)
    announcements.noted([['deliveries', key, at]])
  }
  const wait = (ms: number) => {
    now += ms
    announcements.turn(now, now)
  }
  const take = () => due.deliveries.take(now, () => true)
  return { due, sent, announcements, offer, wait, take }
}

test('a key that this node takes at once is not sent to others', () => {
  const { sent, offer, wait, take } = open()
  offer('a.example', 1_000)
  wait(0)
  expect(take()).toBe('a.example')
  wait(100)
  wait(100)
  expect(sent).toEqual([])
})

test('a key that it does not take in a tenth of a second is sent once', () => {
  const { sent, offer, wait } = open()
  offer('a.example', 900)
  wait(0)
  wait(99)
  expect(sent).toEqual([])
  wait(1)
  wait(1_000)
  expect(sent).toEqual([['deliveries', 'a.example', 900]])
})

test('a key is sent when more of it waits after a claim than this node may take', () => {
  const { due, sent, offer, wait, take } = open()
  offer('a.example', 1_000)
  wait(0)
  take()
  wait(100) // the claim is under way
  due.deliveries.offer('a.example', 1_000)
  wait(100)
  expect(sent).toEqual([['deliveries', 'a.example', 1_000]])
})

test('a key that is due later is sent when its time has come and this node does not take it', () => {
  const { due, sent, offer, wait, take } = open()
  offer('a.example', 5_000)
  offer('b.example', 1_000)
  wait(0)
  take()
  due.deliveries.offer('b.example', 3_000) // what its claim found next
  wait(100)
  wait(1_800)
  expect(sent).toEqual([])
  wait(100)
  wait(100)
  expect(sent).toEqual([['deliveries', 'b.example', 3_000]])
  wait(1_900)
  wait(100)
  expect(sent.slice(1)).toEqual([['deliveries', 'a.example', 5_000]])
})

test('nothing is kept while this node is alone', () => {
  const { sent, announcements, offer, wait } = open()
  offer('a.example', 1_000)
  wait(0)
  announcements.clear()
  wait(1_000)
  expect(sent).toEqual([])
})
