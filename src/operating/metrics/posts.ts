import type { PostResult } from '../../net/https/requests.ts'
import type { Registry } from './registry.ts'

/** Seconds; the default timeout is 30. */
const POST_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30]

/** Records the duration of requests by response: `2xx` etc., `no_answer` or `blocked`. */
export function countPosts(registry: Registry): (kind: 'webhook' | 'inbound') => (result: PostResult) => void {
  const posts = registry.histogram(
    'postrider_post_seconds',
    'Duration of requests to webhook and inbound endpoints, by response class.',
    POST_BOUNDS,
    ['kind', 'answer'],
  )
  return (kind) => (result) => {
    const answer = result.kind === 'answered' ? `${Math.floor(result.status / 100)}xx` : result.kind
    posts(result.durationMs / 1000, [kind, answer])
  }
}
