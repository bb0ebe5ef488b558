import { useEffect, useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { faultsOf, type TextFault, type TextName } from './faults.ts'

/** The texts of a template; '' if one is not set. */
export interface Texts {
  subject: string
  html: string
  text: string
}

/** State of the preview. */
export interface Previewed {
  /** `{subject, html, text}` of the last valid texts; null before the first. */
  rendered: Json
  /** Names of variables in the last valid texts, and of those without a value. */
  variables: string[]
  missing: string[]
  faults: Partial<Record<TextName, TextFault>>
  /** Message of an error that belongs to none of the texts; '' without one. */
  other: string
  /** Whether the texts or variables have changed since. */
  isBehind: boolean
}

/** Renders the texts with these variables on the server, 250 ms after the last change. While a text has an error,
 *  `rendered` keeps the last valid result. */
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
/** `of` is the request that produced `rendered`. */
type State = Omit<Previewed, 'isBehind'> & { of: string }
const NOTHING: State = { rendered: null, variables: [], missing: [], faults: {}, other: '', of: '' }

/** Texts in the form of the API: null for an empty one. */
export const textsGiven = ({ subject, html, text }: Texts) => ({
  subject: subject.trim() === '' ? null : subject,
  html: html.trim() === '' ? null : html,
  text: text.trim() === '' ? null : text,
})
