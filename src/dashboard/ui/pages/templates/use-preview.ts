import { useEffect, useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { faultsOf, type TextFault, type TextName } from './faults.ts'

export interface Texts {
  subject: string
  html: string
  text: string
}

export interface Previewed {
  /** `{subject, html, text}` of the last valid texts; null before there were any. */
  rendered: Json
  /** The variables of the last valid texts, and those without a value. */
  variables: string[]
  missing: string[]
  faults: Partial<Record<TextName, TextFault>>
  /** An error that belongs to no text. */
  other: string
  /** Whether the texts have changed since. */
  isBehind: boolean
}

/** Renders the texts with these variables, 250 ms after the last change. */
export function usePreview(texts: Texts, variables: Record<string, unknown>): Previewed {
  const [state, setState] = useState<State>(NOTHING)
  const about = JSON.stringify({ ...textsGiven(texts), variables })
  useEffect(() => {
    if (texts.html.trim() === '' && texts.text.trim() === '') {
      setState(NOTHING)
      return
    }
    const given = new AbortController()
    const timer = window.setTimeout(async () => {
      try {
        const rendered = await post('/v1/templates/preview', JSON.parse(about), { signal: given.signal })
        const { variables, missing } = rendered
        setState({ rendered, variables, missing, faults: {}, other: '', of: about })
      } catch (thrown) {
        if (given.signal.aborted) return
        const { texts: faults, other } = faultsOf(thrown)
        const { variables } = thrown instanceof ApiError ? thrown.details : {}
        setState((before) => ({ ...before, ...(variables && { variables }), faults, other }))
      }
    }, DEBOUNCE_MS)
    return () => {
      window.clearTimeout(timer)
      given.abort()
    }
  }, [about])
  return { ...state, isBehind: state.of !== about }
}

const DEBOUNCE_MS = 250
/** With the request that it was rendered from. */
type State = Omit<Previewed, 'isBehind'> & { of: string }
const NOTHING: State = { rendered: null, variables: [], missing: [], faults: {}, other: '', of: '' }

/** Texts for the API: null for an empty one. */
export const textsGiven = ({ subject, html, text }: Texts) => ({
  subject: subject.trim() === '' ? null : subject,
  html: html.trim() === '' ? null : html,
  text: text.trim() === '' ? null : text,
})
