import { expect, test } from 'bun:test'
import type { GivenRequest } from '../../sending/submission/request.ts'
import { createDownloading } from './downloading.ts'
import type { Call } from './operation.ts'
import { SMALL_BYTES } from './receive-body.ts'

const remote = { attachments: [{ url: 'https://a.example/x' }] } as GivenRequest
const complete = { attachments: [] as GivenRequest['attachments'] } as GivenRequest
const callOf = (bodyBytes: number, endTurn = () => {}) =>
  ({ key: { id: 'key_1' }, organizationId: 'org_1', bodyBytes, endTurn }) as unknown as Call

// threat: memory-exhaustion
test('bodies of requests that wait for downloads have a limit, except those with reserved memory', async () => {
  const limits = { perKey: 9, perOrganization: 9, inAll: 9, organizationBytes: 500_000, allBytes: 500_000 }
  const whileDownloading = createDownloading(limits)
  const { promise, resolve } = Promise.withResolvers<void>()
  let turns = 0
  const endTurn = () => void turns++
  const first = [1, 2].map(() => whileDownloading(callOf(240_000, endTurn), [complete, remote], () => promise))
  expect(turns).toBe(2)
  const over = whileDownloading(callOf(240_000, endTurn), [remote], async () => 'done')
  await expect(over).rejects.toMatchObject({ reason: 'unavailable' })
  expect(await whileDownloading(callOf(SMALL_BYTES + 1, endTurn), [remote], async () => 'done')).toBe('done')
  expect(await whileDownloading(callOf(240_000, endTurn), [complete], async () => 'done')).toBe('done')
  expect(turns).toBe(3)
  resolve()
  await Promise.all(first)
  expect(await whileDownloading(callOf(240_000), [remote], async () => 'done')).toBe('done')
})
