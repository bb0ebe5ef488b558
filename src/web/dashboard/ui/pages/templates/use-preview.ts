import { useEffect, useState } from 'preact/hooks'
import { ApiError, type Json, post } from '../../kit/api.ts'
import { faultsOf, type TextFault, type TextName } from './faults.ts'
import { isLooped, lacks } from './sample.ts'

/** The texts of a template; '' if one is not set. */
export interface Texts {
  subject: string
  html: string
  mjml: string
  /** Which of the two is the body; the other is not sent. */
  source: 'html' | 'mjml'
  text: string
}

/** State of the preview. */
export interface Previewed {
  /** `{subject, html, text}` of the last valid texts; null before the first. */
  rendered: Json
  /** Names of variables without a value. */
  missing: string[]
  faults: Partial<Record<TextName, TextFault>>
  /** Message of an error that belongs to none of the texts; '' without one. */
  other: string
  /** Whether the texts or variables have changed since. */
  isBehind: boolean
}

/** Renders the texts with these variables on the server, 250 ms after the last change: in the layout with this alias, and
 *  with layout and partials in this language ('' = none, the default). While a text has an error, `rendered` keeps the
 *  last valid result. */
export function usePreview(
  draft: Texts,
  variables: Record<string, unknown>,
  { layout, locale }: { layout: string; locale: string },
): Previewed {
  const [state, setState] = useState<State>(NOTHING)
  const texts = textsGiven(draft)
  const written = [draft.subject, draft[draft.source], draft.text]
  const about = JSON.stringify({ ...texts, variables, layout: layout || null, locale: locale || null })
  useEffect(() => {
    if (bodyOf(draft).trim() === '') {
      setState(NOTHING)
      return
    }
    const given = new AbortController()
    const timer = window.setTimeout(async () => {
      try {
        const { missing, ...rendered } = await post('/v1/templates/preview', JSON.parse(about), {
          signal: given.signal,
        })
        setState({ ...NOTHING, rendered, missing, of: about, locale })
      } catch (thrown) {
        if (given.signal.aborted) return
        setState((before) => ({ ...before, ...errorsOf(thrown, written, variables), locale }))
      }
    }, DEBOUNCE_MS)
    return () => {
      window.clearTimeout(timer)
      given.abort()
    }
  }, [about])
  const { rendered, missing, faults, other } = state.locale === locale ? state : NOTHING
  return { rendered, missing, faults, other, isBehind: state.of !== about }
}

/** An error of the preview. If the sample lacks a list that a text loops over, that is the reason. */
function errorsOf(
  thrown: unknown,
  texts: readonly string[],
  sample: Record<string, unknown>,
): Pick<Previewed, 'missing' | 'faults' | 'other'> {
  const names: string[] = (thrown instanceof ApiError && thrown.details.variables) || []
  const missing = names.filter((name) => isLooped(name, texts) && lacks(sample, name))
  if (missing.length > 0) return { missing, faults: {}, other: '' }
  const { texts: faults, other } = faultsOf(thrown)
  return { missing: [], faults, other }
}

const DEBOUNCE_MS = 250
/** `of` is the request that produced `rendered`, `locale` the language that the state is about. */
type State = Omit<Previewed, 'isBehind'> & { of: string; locale: string }
const NOTHING: State = { rendered: null, missing: [], faults: {}, other: '', of: '', locale: '' }

/** Texts in the form of the API: null for an empty one. Without `mjml` if the body is HTML, and without `html` if it is
 *  MJML. */
export const textsGiven = ({ subject, text, source, ...bodies }: Texts) => ({
  subject: givenText(subject),
  ...(bodies[source].trim() === '' ? { html: null, mjml: null } : { [source]: bodies[source] }),
  text: givenText(text),
})

const givenText = (text: string) => (text.trim() === '' ? null : text)

/** The body in both forms, to see whether there is one. */
export const bodyOf = ({ source, text, ...bodies }: Texts) => bodies[source] + text
