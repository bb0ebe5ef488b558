import { useEffect, useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { faultsOf, type TextFault, type TextName } from './faults.ts'

export interface Texts {
  subject: string
  html: string
  text: string
}

export interface Previewed {
  /** `{subject, html, text}` of the last texts that were good; null before there were any. */
  rendered: Json
  /** All that the last texts asked for that were understood, and what of it must still be given. */
  variables: string[]
  missing: string[]
  faults: Partial<Record<TextName, TextFault>>
  /** What belongs to no text. */
  other: string
  /** It is of texts that are no longer these. */
  isBehind: boolean
}

/** What the texts become with these variables: asked for when somebody stops writing for a moment. */
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
    }, A_MOMENT_MS)
    return () => {
      window.clearTimeout(timer)
      given.abort()
    }
  }, [about])
  return { ...state, isBehind: state.of !== about }
}

const A_MOMENT_MS = 250
/** With the texts that it was rendered of. */
type State = Omit<Previewed, 'isBehind'> & { of: string }
const NOTHING: State = { rendered: null, variables: [], missing: [], faults: {}, other: '', of: '' }

/** Texts as the API takes them: null where there is none. */
export const textsGiven = ({ subject, html, text }: Texts) => ({
  subject: subject.trim() === '' ? null : subject,
  html: html.trim() === '' ? null : html,
  text: text.trim() === '' ? null : text,
})
