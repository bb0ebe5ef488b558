import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api, type Json, type Paged } from './api.ts'
import { mode, organization } from './state.ts'

/** State of a request. */
export interface Loaded<T> {
  /** Undefined until the first response. A reload keeps the old value until the new one arrives. */
  data: T | undefined
  error: ApiError | undefined
  isLoading: boolean
  reload(): void
}

/** Loads data when the page opens, and again when `about`, the organization or the mode changes; aborts
 *  outdated requests. `everyMs` also reloads it at that interval while the tab is visible. Errors are in
 *  `error`; it never throws. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  about: readonly unknown[],
  { everyMs }: { everyMs?: number } = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: undefined, error: undefined, isLoading: true })
  const [round, setRound] = useState(0)
  const wanted = JSON.stringify([about, organization.value?.id, mode.value])
  const before = useRef(wanted)
  useEffect(() => {
    const given = new AbortController()
    const isOther = before.current !== wanted
    before.current = wanted
    setState(({ data, error }) => ({ data: isOther ? undefined : data, error, isLoading: true }))
    load(given.signal).then(
      (data) => given.signal.aborted || setState({ data, error: undefined, isLoading: false }),
      (thrown) => {
        if (given.signal.aborted) return
        const error = thrown instanceof ApiError ? thrown : new ApiError(0, 'bug', String(thrown))
        setState(({ data }) => ({ data, error, isLoading: false }))
      },
    )
    return () => given.abort()
  }, [wanted, round])
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = window.setInterval(() => {
      if (!document.hidden) setRound((before) => before + 1)
    }, everyMs)
    return () => window.clearInterval(timer)
  }, [everyMs])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  return { ...state, reload }
}

/** State of a request for one page of a list, with newer and older pages. */
export interface Pages<T> extends Loaded<T[]> {
  /** Whether there are older rows, and newer rows. */
  hasOlder: boolean
  hasNewer: boolean
  older(): void
  newer(): void
}

/** Loads one page of a list, for Table and Pager. `isForAll`: of all organizations, for operators. Returns to the first page when the path or the query changes. */
export function usePages<T = Json>(
  path: string,
  query: Record<string, string | undefined>,
  options: { everyMs?: number; isForAll?: boolean } = {},
): Pages<T> {
  const { isForAll } = options
  const about = JSON.stringify([path, query, isForAll, organization.value?.id, mode.value])
  const [trail, setTrail] = useState<{ about: string; cursors: string[] }>({ about, cursors: [] })
  const cursors = trail.about === about ? trail.cursors : []
  const cursor = cursors.at(-1)
  const { data, ...rest } = useLoad(
    (signal) => api<Paged<T>>('GET', path, { query: { ...query, cursor }, signal, isForAll }),
    [path, query, cursor, isForAll],
    cursor === undefined ? options : {},
  )
  return {
    ...rest,
    data: data?.data,
    hasOlder: data?.has_more ?? false,
    hasNewer: cursors.length > 0,
    older: () => data?.next_cursor && setTrail({ about, cursors: [...cursors, data.next_cursor] }),
    newer: () => setTrail({ about, cursors: cursors.slice(0, -1) }),
  }
}
