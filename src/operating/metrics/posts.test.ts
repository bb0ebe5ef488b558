import { expect, test } from 'bun:test'
import type { PostResult } from '../../net/https/requests.ts'
import { countPosts } from './posts.ts'
import { createRegistry } from './registry.ts'

test('posts are counted by kind and answer', () => {
  const registry = createRegistry()
  const answers: PostResult[] = [
    { kind: 'answered', status: 204, retryAfterSeconds: null, location: null, excerpt: '', durationMs: 20 },
    { kind: 'answered', status: 503, retryAfterSeconds: 5, location: null, excerpt: 'later', durationMs: 20 },
    { kind: 'no_answer', error: 'timeout', durationMs: 30_000 },
    { kind: 'blocked', reason: 'private', durationMs: 1 },
  ]
  const count = countPosts(registry)('inbound')
  for (const answer of answers) count(answer)
  for (const answer of ['2xx', '5xx', 'no_answer', 'blocked']) {
    expect(registry.text()).toContain(`postrider_post_seconds_count{kind="inbound",answer="${answer}"} 1\n`)
  }
  expect(registry.text()).toContain('postrider_post_seconds_sum{kind="inbound",answer="no_answer"} 30\n')
})
