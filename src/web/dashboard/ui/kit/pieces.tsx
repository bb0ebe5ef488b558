import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, errorText } from './api.ts'
import { toClipboard } from './clipboard.ts'
import { ago, exact, when } from './format.ts'
import { Icon } from './icon.tsx'
import { title } from './state.ts'
import { MARKS, type Tone } from './status.tsx'
import { attempt, toast } from './toast.tsx'

/** Small components: heading, copy button, tabs, segments, filters, empty state, errors, timeline. */

/** Top of every page: title, description and actions. Also sets the title of the browser tab. `field` changes the name,
 *  and takes the place of the heading, which screen readers keep. */
export function Head({
  name,
  about,
  field,
  children,
}: {
  name: string
  about?: ComponentChildren
  field?: ComponentChildren
  children?: ComponentChildren
}) {
  useEffect(() => {
    title.value = name
  }, [name])
  return (
    <div class="head">
      <div class="stack tight">
        {/* Chromium reads the places for breaks as blanks. */}
        <h1 class={field ? 'hidden' : 'break'} dir="auto" aria-label={name}>
          {withBreaks(name)}
        </h1>
        {field}
        {about && <p class="muted break">{about}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </div>
  )
}

/** The `ref` of a field that shows `value` at first and whenever it changes. In between, the field keeps what the user types:
 *  the page is drawn again whenever data arrive. */
export function useShown(value: string) {
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (field.current !== null) field.current.value = value
  }, [value])
  return field
}

/** Returns `work` so that it does nothing while it runs: a second press would do the same again. */
export function useOneAtATime<Given extends unknown[]>(work: (...given: Given) => Promise<unknown>) {
  const isRunning = useRef(false)
  return async (...given: Given): Promise<void> => {
    if (isRunning.current) return
    isRunning.current = true
    await work(...given).finally(() => {
      isRunning.current = false
    })
  }
}

/** Whether `work` runs, for the button that starts it, and `work` itself, which shows its error and does nothing while it
 *  runs. */
export function useBusy<Given extends unknown[]>(work: (...given: Given) => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false)
  const run = useOneAtATime(async (...given: Given) => {
    setBusy(true)
    await attempt(() => work(...given))
    setBusy(false)
  })
  return [isBusy, run] as const
}

/** Text with a place to break a line after each punctuation mark, so that a URL or an address need not split a word. */
export function withBreaks(text: string): ComponentChildren {
  return text.split(/(?<=[/.@?&=_:-])(?=\w)/).flatMap((part, at) => (at === 0 ? [part] : [<wbr key={at} />, part]))
}

/** A button that copies `text` and announces it. `label` names the text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = window.setTimeout(() => setDone(false), 1_500)
    return () => window.clearTimeout(timer)
  }, [done])
  const copy = async () => {
    await copyText(text, label)
    setDone(true)
  }
  return (
    <button
      type="button"
      class="plain icon-only copy"
      title={`Copy ${label}`}
      aria-label={`${done ? 'Copied' : 'Copy'} ${label}`}
      onClick={copy}
    >
      <Icon name={done ? 'check' : 'copy'} />
    </button>
  )
}

/** A text in one line that may end with an ellipsis, with its copy button. `title` is the whole of it, on hover. */
export function Copied({ text, label, title = text }: { text: string; label: string; title?: string }) {
  return (
    <span class="row copied-id">
      <code class="ellipsis" title={title}>
        {text}
      </code>
      <CopyButton text={text} label={label} />
    </span>
  )
}

/** Copies text and announces it. */
export async function copyText(text: string, label: string): Promise<void> {
  await toClipboard(text)
  toast(`${label.charAt(0).toUpperCase()}${label.slice(1)} copied`)
}

/** A time, `14:02` today and `21 Nov 14:02` before; how long ago it was and the exact one on hover; '–' for null. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="muted">–</span>
  return (
    <time class="muted num" dateTime={at} title={`${ago(at)}, ${exact(at)}`}>
      {when(at)}
    </time>
  )
}

/** Tabs with one panel; the arrow keys move between them:
 *
 *    <Tabs name="Mail" tabs={[['html', 'Preview'], …]} chosen={tab} onChoose={setTab}>{panel}</Tabs> */
export function Tabs<T extends string>({
  name,
  tabs,
  chosen,
  onChoose,
  children,
}: {
  name: string
  tabs: readonly (readonly [id: T, label: string])[]
  chosen: T
  onChoose: (id: T) => void
  children: ComponentChildren
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // On a narrow screen the row of tabs scrolls, and the selected tab may be out of view. scrollIntoView would also
    // scroll the page, if the tabs are below the visible part.
    const row = list.current
    const tab = row?.querySelector('[aria-selected="true"]')
    if (!row || !tab) return
    const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()]
    if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right
    else if (inner.left < outer.left) row.scrollLeft += inner.left - outer.left
  }, [chosen])
  const id = name.toLowerCase().replace(/\W+/g, '-')
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = tabs.findIndex(([tab]) => tab === chosen)
    const [next] = tabs[(at + step + tabs.length) % tabs.length] ?? [chosen]
    onChoose(next)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus()
  }
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={name} ref={list} onKeyDown={move}>
        {tabs.map(([tab, label]) => (
          <button
            key={tab}
            type="button"
            role="tab"
            data-tab={tab}
            id={`${id}-${tab}`}
            aria-controls={`${id}-panel`}
            aria-selected={tab === chosen}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => onChoose(tab)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  )
}

/** A choice of a few options: a row of buttons, one of them pressed. */
export function Segments<T extends string>({
  name,
  options,
  chosen,
  onChoose,
  isDisabled = false,
}: {
  name: string
  options: readonly (readonly [id: T, label: string])[]
  chosen: T
  onChoose: (id: T) => void
  isDisabled?: boolean
}) {
  return (
    <fieldset class="segments" style={{ border: 0, margin: 0 }} disabled={isDisabled}>
      <legend class="hidden">{name}</legend>
      {options.map(([id, label]) => (
        <button key={id} type="button" aria-pressed={id === chosen} onClick={() => onChoose(id)}>
          {label}
        </button>
      ))}
    </fieldset>
  )
}

/** A search field and other filters of a list. `/` focuses the field. `onSearch` gets the trimmed text 300 ms after the
 *  last key, or immediately after Enter. Without `onSearch` there is no search field. */
export function Filters({
  search: initial,
  onSearch,
  placeholder = 'Search',
  children,
}: {
  search?: string | undefined
  onSearch?: (text: string) => void
  placeholder?: string
  children?: ComponentChildren
}) {
  const timer = useRef(0)
  const field = useRef<HTMLInputElement>(null)
  const asked = useRef(initial ?? '')
  const search = (text: string, waitMs: number) => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      asked.current = text.trim()
      onSearch?.(asked.current)
    }, waitMs)
  }
  useLayoutEffect(() => {
    // Back, or a button that clears the filters. What the user types stays as it is.
    if (field.current === null || asked.current === (initial ?? '')) return
    window.clearTimeout(timer.current)
    asked.current = field.current.value = initial ?? ''
  }, [initial])
  useEffect(() => () => window.clearTimeout(timer.current), [])
  return (
    <search class="filters">
      {onSearch && (
        <input
          type="search"
          aria-label={placeholder}
          placeholder={placeholder}
          data-search
          ref={field}
          defaultValue={initial}
          onInput={(event) => search(event.currentTarget.value, 300)}
          onKeyDown={(event) => event.key === 'Enter' && search(event.currentTarget.value, 0)}
        />
      )}
      {children}
    </search>
  )
}

/** The active filters, each with a button that removes it. */
export function FilterChips({
  filters,
  onRemove,
}: {
  filters: readonly (readonly [id: string, label: string])[]
  onRemove: (ids: string[]) => void
}) {
  if (filters.length === 0) return null
  return (
    <div class="row filter-chips">
      {filters.map(([id, label]) => (
        <button
          key={id}
          type="button"
          class="tiny"
          aria-label={`Remove filter ${label}`}
          onClick={() => onRemove([id])}
        >
          {label}
          <Icon name="x" />
        </button>
      ))}
      <button type="button" class="plain tiny" onClick={() => onRemove(filters.map(([id]) => id))}>
        Clear filters
      </button>
    </div>
  )
}

/** A labelled select element:
 *
 *    <Choice name="Status" value={status} options={[['', 'Any status'], …]} onChange={…} /> */
export function Choice<Value extends string>({
  name,
  value,
  options,
  onChange,
}: {
  name: string
  value: Value
  options: readonly (readonly [value: Value, label: string])[]
  onChange: (value: Value) => void
}) {
  const choose = (chosen: string) => {
    const option = options.find(([id]) => id === chosen)
    if (option !== undefined) onChange(option[0])
  }
  return (
    <select aria-label={name} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <Options of={options} chosen={value} />
    </select>
  )
}

/** The options of a select element; the first one is selected unless another is `chosen`. */
export function Options({
  of: options,
  chosen,
}: {
  of: readonly (readonly [value: string, label: string])[]
  chosen?: string | undefined
}) {
  return options.map(([value, label]) => (
    <option key={value} value={value} selected={value === chosen}>
      {label}
    </option>
  ))
}

/** Empty state: what is missing, and what to do. */
export function Empty({ name, children }: { name: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{name}</h2>
      {children}
    </div>
  )
}

/** An error with a button to retry; renders nothing without an error. */
export function ErrorNotice({ error, onRetry }: { error: ApiError | undefined; onRetry?: () => void }) {
  if (error === undefined) return null
  return (
    <div class="notice bad row apart" role="alert">
      <span>{errorText(error)}</span>
      {onRetry && (
        <button type="button" class="tiny" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Replaces content that is not loaded: empty space while it loads, then the error. */
export function Pending({ error, onRetry }: { error: ApiError | undefined; onRetry: () => void }) {
  if (error === undefined) return <div class="pending" aria-busy="true" />
  return <ErrorNotice error={error} onRetry={onRetry} />
}

/** Replaces a page whose record is not loaded: empty space while it loads, then the error. `children` say where to go if there
 *  is no such record. */
export function Unloaded({
  name,
  error,
  onRetry,
  children,
}: {
  name: string
  error: ApiError | undefined
  onRetry: () => void
  children: ComponentChildren
}) {
  return (
    <>
      <Head name={name} />
      {isGone(error) ? (
        <Empty name={`${name} not found`}>{children}</Empty>
      ) : (
        <Pending error={error} onRetry={onRetry} />
      )}
    </>
  )
}

/** Whether there is no such record, or one of another organization. */
export const isGone = (error: ApiError | undefined) => error?.status === 404 || error?.status === 403

/** An entry of a Timeline. */
export interface Moment {
  key: string
  tone: Tone
  /** `14:02:11` */
  at: string
  /** ISO 8601, for the exact time. */
  iso?: string
  what: ComponentChildren
  more?: ComponentChildren
}

/** A list of events in the given order. */
export function Timeline({ moments, name }: { moments: readonly Moment[]; name: string }) {
  return (
    <ol class="timeline" aria-label={name}>
      {moments.map(({ key, tone, at, iso, what, more }) => (
        <li key={key} class={tone} data-mark={MARKS[tone]}>
          <div class="row">
            <span class="grow break">{what}</span>
            <time class="muted small num" dateTime={iso} title={iso}>
              {at}
            </time>
          </div>
          {more}
        </li>
      ))}
    </ol>
  )
}

/** A list of names and values: `<Facts of={[['Size', '1.2 KiB'], …]} />`. Omits values that are null, undefined, false
 *  or ''. */
export function Facts({ of: facts }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** Text with commands between backticks → the text with code elements. A word such as `--keep` does not break after its
 *  hyphens, unless it is wider than the line. */
export const withCode = (text: string) =>
  text.split('`').map((part, at) => (at % 2 === 1 ? <code key={`${at}`}>{wholeWords(part)}</code> : part))

const wholeWords = (text: string) =>
  text.split(' ').map((word, at) => (
    <Fragment key={`${at}`}>
      {at > 0 && ' '}
      <span class="word">{word}</span>
    </Fragment>
  ))
