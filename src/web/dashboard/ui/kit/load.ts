import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api, type Json, type Paged } from './api.ts'
import { amendQuery, newerPages, place, turnPage } from './router.ts'
import { mode, organization } from './state.ts'

/** State of a request. */
export interface Loaded<T> {
  /** Undefined until the first response. A reload keeps the old value until the new one arrives. */
  data: T | undefined
  error: ApiError | undefined
  isLoading: boolean
  /** Whether `data` answers an earlier request: of a list whose page or filters have changed since. */
  isOld?: boolean
  reload(): void
}

/** Loads data when the page opens, and again when `about`, the organization or the mode changes; aborts
 *  outdated requests. `everyMs` also reloads it at that interval while the tab is visible, unless a request is under way: an
 *  answer may take longer. `keepsOld`: until the response, `data` is that of the earlier `about`, for the same organization
 *  and mode. Errors are in `error`; it never throws. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  about: readonly unknown[],
  { everyMs, keepsOld = false }: { everyMs?: number | undefined; keepsOld?: boolean } = {},
): Loaded<T> {
  const whose = `${organization.value?.id} ${mode.value}`
  const wanted = JSON.stringify([about, whose])
  const [state, setState] = useState<Answer<T>>({ wanted, whose, data: undefined, error: undefined, isLoading: true })
  const [round, setRound] = useState(0)
  /** When the request that is under way began; 0 if none is. */
  const askedAt = useRef(0)
  const isOfThis = (of: Answer<T>) => of.wanted === wanted || (keepsOld && of.whose === whose)
  useEffect(() => {
    const given = new AbortController()
    askedAt.current = performance.now()
    setState((last) => ({ ...last, isLoading: true }))
    load(given.signal).then(
      (data) => {
        if (given.signal.aborted) return
        askedAt.current = 0
        setState({ wanted, whose, data, error: undefined, isLoading: false })
      },
      (thrown) => {
        if (given.signal.aborted) return
        askedAt.current = 0
        const error = thrown instanceof ApiError ? thrown : new ApiError(0, 'bug', String(thrown))
        setState((last) => ({
          ...(isOfThis(last) ? last : { wanted, whose, data: undefined }),
          error,
          isLoading: false,
        }))
      },
    )
    return () => given.abort()
  }, [wanted, round])
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = window.setInterval(() => {
      const isWaiting = askedAt.current > 0 && performance.now() - askedAt.current < LOST_MS
      if (!document.hidden && !isWaiting) setRound((before) => before + 1)
    }, everyMs)
    return () => window.clearInterval(timer)
  }, [everyMs])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  // The page is drawn once with what it wants now before the effect above asks for it.
  if (!isOfThis(state)) return { data: undefined, error: undefined, isLoading: true, reload }
  const { data, error, isLoading } = state
  return { data, error, isLoading, isOld: state.wanted !== wanted, reload }
}

/** After this time an answer counts as lost, as when the computer slept meanwhile. */
const LOST_MS = 60_000

/** What is known, and what it answers: `whose` is its organization and mode, `wanted` these and what it is about. */
interface Answer<T> extends Omit<Loaded<T>, 'reload' | 'isOld'> {
  wanted: string
  whose: string
}

/** State of a request for one page of a list, with newer and older pages. */
export interface Pages<T> extends Loaded<T[]> {
  /** Whether there are older rows, and newer rows. */
  hasOlder: boolean
  hasNewer: boolean
  /** Whether the server stopped its search before the page was full, so that the older rows may match or not. */
  isCut: boolean
  older(): void
  newer(): void
}

/** Requests after which a search that finds few rows waits for the user: each looks at the rows of about 20 ms. */
const MAX_REQUESTS = 5

/** Loads one page of a list, for Table and Pager. The page is in the URL, so that Back, a reload and a shared link open it
 *  again: its cursor is the query parameter `as`, by default `page`. `isForAll`: of all organizations, for operators. */
export function usePages<T = Json>(
  path: string,
  query: Record<string, string | undefined>,
  { everyMs, isForAll, as = 'page' }: { everyMs?: number; isForAll?: boolean; as?: string } = {},
): Pages<T> {
  const cursor = place.value.query[as] || undefined
  const load = async (signal: AbortSignal): Promise<Paged<T>> => {
    const found: T[] = []
    for (let next = cursor, count = 1; ; count++) {
      const page = await api<Paged<T>>('GET', path, { query: { ...query, cursor: next }, signal, isForAll })
      found.push(...page.data)
      const isFull = found.length >= Number(query.limit ?? DEFAULT_LIMIT)
      if (isFull || page.next_cursor === null || count === MAX_REQUESTS) return { ...page, data: found }
      next = page.next_cursor
    }
  }
  const options = { everyMs: cursor === undefined ? everyMs : undefined, keepsOld: true }
  const { data, ...rest } = useLoad(load, [path, query, cursor, isForAll], options)
  const newer = newerPages(as)
  const { error } = rest
  useEffect(() => {
    if (error?.fields.cursor !== undefined) amendQuery({ [as]: '' }) // a link that somebody has changed
  }, [error])
  return {
    ...rest,
    data: data?.data,
    hasOlder: data?.has_more ?? false,
    hasNewer: cursor !== undefined,
    isCut: data?.has_more === true && data.data.length < Number(query.limit ?? DEFAULT_LIMIT),
    // The cursor of an earlier page would lead to the present one again.
    older: () => !rest.isOld && data?.next_cursor && turnPage(as, data.next_cursor, [...newer, cursor ?? '']),
    newer: () => turnPage(as, newer.at(-1) ?? '', newer.slice(0, -1)),
  }
}

/** Rows of a page without `limit` (API reference). */
const DEFAULT_LIMIT = 25
