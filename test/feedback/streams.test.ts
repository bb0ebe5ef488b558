import { expect, test } from 'bun:test'
import type { ComplaintScope } from '../../src/model/suppression.ts'
import { ORGANIZATION } from '../storage/records.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { openFeedback, words } from './setup.ts'

const ANN = 'ann@dest.example'
const ABUSE = loadFixtures('arf').get('abuse')!

/** Mail of these streams to Ann, and who is stopped now. */
async function opened(scope?: ComplaintScope) {
  const setup = await openFeedback(undefined, scope)
  const { store, verp } = setup
  const of = async (stream: string) => {
    const { ids, message } = await setup.delivered([ANN], { stream })
    const stopped = async (other: string) =>
      (await store.suppressions.among({ ...message, stream: other }, [ANN])).size > 0
    return { bounce: verp.encode(ids[0]!, 'bounce'), unsubscribe: verp.encode(ids[0]!, 'unsubscribe'), stopped }
  }
  const listed = async () =>
    (await store.suppressions.find(ORGANIZATION, ANN)).map(({ stream, reason }) => `${stream} ${reason}`).sort()
  return { ...setup, of, listed }
}

test.each([
  ['bulk', undefined, 'bulk', [false, true, true]],
  ['transactional', undefined, 'transactional', [true, true, true]],
  ['news', 'non_transactional', 'news', [false, true, true]],
  ['bulk', 'all', null, [true, true, true]],
] as const)(
  'a complaint about %s stops the other streams too, and transactional mail where it must (scope %p)',
  async (stream, scope, named, expected) => {
    const setup = await opened(scope)
    const { bounce, stopped } = await setup.of(stream)
    await setup.take(ABUSE, [bounce], { returnPath: 'fbl@isp.example' })
    expect(await setup.listed()).toEqual([`${named} complaint`])
    expect(await Promise.all(['transactional', 'bulk', 'news'].map(stopped))).toEqual([...expected])
    await setup.store.close()
  },
)

test('a mail to the unsubscribe address stops the stream of its message only, each stream by itself', async () => {
  const setup = await opened()
  const bulk = await setup.of('bulk')
  const news = await setup.of('news')
  await setup.take(words({ Subject: 'unsubscribe' }), [bulk.unsubscribe], { returnPath: ANN })
  expect(await Promise.all(['transactional', 'bulk', 'news'].map(bulk.stopped))).toEqual([false, true, false])
  await setup.take(words({ Subject: 'unsubscribe too' }), [news.unsubscribe], { returnPath: ANN })
  expect(await setup.listed()).toEqual(['bulk unsubscribe', 'news unsubscribe'])
  expect((await setup.events()).filter(({ type }) => type === 'message.unsubscribed')).toHaveLength(2)
  await setup.store.close()
})

test('a complaint after an unsubscription from the same stream still reaches the other streams', async () => {
  const setup = await opened()
  const { bounce, unsubscribe, stopped } = await setup.of('bulk')
  await setup.take(words({ Subject: 'unsubscribe' }), [unsubscribe], { returnPath: ANN })
  expect(await stopped('news')).toBe(false)
  await setup.take(ABUSE, [bounce], { returnPath: 'fbl@isp.example' })
  expect(await setup.listed()).toEqual(['bulk complaint', 'bulk unsubscribe'])
  expect([await stopped('news'), await stopped('transactional')]).toEqual([true, false])
  await setup.store.close()
})
