import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, type Json, type Paged } from './api.ts'
import { mode, organization } from './state.ts'

export interface Loaded<T> {
  /** Undefined until it came the first time; what was there before stays while it is asked for again. */
  data: T | undefined
  error: ApiError | undefined
  isLoading: boolean
  reload(): void
}

/** Asks when the page is shown, and again when one of `about`, the organization or the mode changes; what is no longer
 *  wanted is given up. With `everyMs` also now and then, while somebody looks. */
export function useLoad<T>(
  ask: (signal: AbortSignal) => Promise<T>,
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
    ask(given.signal).then(
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

export interface Pages<T> extends Loaded<T[]> {
  /** Whether there are older and newer ones than these. */
  hasOlder: boolean
  hasNewer: boolean
  older(): void
  newer(): void
}

/** One page of a list at a time, the first again when path or query change. For `<Pager pages={…} />`. */
export function usePages<T = Json>(
  path: string,
  query: Record<string, string | undefined>,
  options: { everyMs?: number } = {},
): Pages<T> {
  const about = JSON.stringify([path, query, organization.value?.id, mode.value])
  const [trail, setTrail] = useState<{ about: string; cursors: string[] }>({ about, cursors: [] })
  const cursors = trail.about === about ? trail.cursors : []
  const cursor = cursors.at(-1)
  const { data, ...rest } = useLoad(
    (signal) => get<Paged<T>>(path, { ...query, cursor }, signal),
    [path, query, cursor],
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
