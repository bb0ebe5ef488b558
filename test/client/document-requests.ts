import type { Json } from '../support/server.ts'

/** OpenAPI document → the request of each operation that accepts keys, sorted: `POST /v1/webhooks/a/replay body key`.
 *  The IDs of the path are `a` and `b`. */
export function requestsIn(document: Json): string[] {
  const requests = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([, { operationId, security }]) => !operationId.endsWith('_alias') && security === undefined)
      .map(([method, { parameters, requestBody }]) => {
        const isKeyed = parameters.some(({ $ref }: Json) => $ref?.endsWith('/IdempotencyKey'))
        const properties = requestBody?.content['application/json'].schema.properties ?? { $ref: true }
        const hasBody = requestBody !== undefined && Object.keys(properties).length > 0
        let ids = 0
        const bare = path.replace(/\{\w+\}/g, () => 'ab'[ids++]!)
        return [method.toUpperCase(), bare, hasBody ? 'body' : '', isKeyed ? 'key' : ''].join(' ').trim()
      }),
  )
  return requests.toSorted()
}
