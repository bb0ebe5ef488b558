import { unauthorized } from './auth.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'

/** The caller's input, read only after the earlier checks. */
export interface Said {
  query: () => unknown
  /** A promise for what is large. */
  body: () => unknown
  remember: MakeRemember
}

/** A call that may be made → its answer: the only way to the handler of an operation, for HTTP and the command line.
 *  Resource, then query and body, then what is asked for; each throws a Refusal. Whoever asks is looked at once more
 *  before anything is done: a body may have come in for minutes, and its key may have been revoked, or have ended,
 *  meanwhile. The call keeps what became known. */
export async function perform(operation: Operation, call: Call, { query, body, remember }: Said): Promise<ApiResponse> {
  const resource = operation.load === undefined ? undefined : await operation.load(call)
  call.resource = resource
  const asked = query()
  const said = body()
  if (operation.reads !== undefined) await call.enter?.(operation.reads(resource))
  const parts = { resource, query: asked, body: said instanceof Promise ? await said : said }
  if (!call.holds()) throw unauthorized()
  const answer = await operation.handle(
    Object.assign(call, parts, {
      remember: (made: ApiResponse) => {
        call.answer = made
        return remember(made)
      },
    }),
  )
  call.answer = answer
  return answer
}
