import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { Post, PostResult } from '../../net/https/requests.ts'

/** Posts a signed request with the additional headers of its endpoint. An endpoint that sends a value back in its body or
 *  its redirect does not put it into the delivery record: Postrider replaces it there with `[…]`. */
export async function postWithHeaders(
  post: Post,
  url: string,
  additional: EndpointHeaders,
  request: Parameters<Post>[1],
): Promise<PostResult> {
  if (additional.length === 0) return post(url, request)
  const result = await post(url, { ...request, headers: { ...request.headers, ...Object.fromEntries(additional) } })
  if (result.kind !== 'answered') return result
  const { excerpt, location } = result
  const words = additional
    .flatMap(([, value]) => value.split(' ', MOST_WORDS).filter((word) => word.length >= SECRET_CHARACTERS))
    .sort((a, b) => b.length - a.length) // one may contain another
    .slice(0, MOST_WORDS)
  const without = (text: string) => words.reduce((rest, word) => rest.replaceAll(word, REMOVED), text)
  return { ...result, excerpt: without(excerpt), location: location === null ? null : without(location) }
}

/** Shorter words, such as `Bearer` or `true`, are no secret and occur in ordinary responses. */
const SECRET_CHARACTERS = 8
/** Of each value the first ones, of all values the longest. They could have 4,500 words, and each costs a search of every
 *  response. */
const MOST_WORDS = 50
const REMOVED = '[…]'
