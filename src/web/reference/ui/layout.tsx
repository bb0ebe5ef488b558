import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../dashboard/ui/kit/icon.tsx'
import { title } from '../../dashboard/ui/kit/state.ts'
import { Toasts } from '../../dashboard/ui/kit/toast.tsx'
import { OperationPage } from './operation.tsx'
import { Overview } from './overview.tsx'
import { Results } from './results.tsx'
import { Sidebar } from './sidebar.tsx'
import { fault, isOperation, place, query, reference } from './state.ts'
import { TagPage } from './tag.tsx'

/** Navigation and search around the page that the link names. */
export function Layout() {
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const search = useRef<HTMLInputElement>(null)
  const at = place.value
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    setOpen(false)
    title.value = at === null ? 'API reference' : isOperation(at) ? at.summary : at.name
    if (reference.value === null) return
    if (!isFirst.current) {
      window.scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    isFirst.current = false
  }, [at, reference.value])
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isOpen) {
        setOpen(false)
        menu.current?.focus()
      }
      const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      search.current?.focus()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [isOpen])

  return (
    <>
      {/* A link to an anchor would leave the operation. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <div class="frame reference">
        <Sidebar isOpen={isOpen} onClose={() => setOpen(false)} />
        {/* Keyboard users close the menu with Escape. */}
        {isOpen && <div class="scrim" aria-hidden="true" onClick={() => setOpen(false)} />}
        <div>
          <header class="top">
            <button
              type="button"
              class="menu plain icon-only"
              ref={menu}
              aria-label="Menu"
              aria-expanded={isOpen}
              aria-controls="navigation"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="menu" />
            </button>
            <SearchField field={search} main={main} />
          </header>
          <main id="main" ref={main} tabIndex={-1}>
            <Page />
          </main>
        </div>
      </div>
      <Toasts />
    </>
  )
}

function SearchField({
  field,
  main,
}: {
  field: { current: HTMLInputElement | null }
  main: { current: HTMLElement | null }
}) {
  const press = (event: KeyboardEvent) => {
    const links = main.current?.querySelectorAll<HTMLAnchorElement>('.results a') ?? []
    if (event.key === 'Escape') query.value = ''
    if (event.key === 'ArrowDown' && links[0]) {
      event.preventDefault()
      links[0].focus()
    }
    if (event.key === 'Enter' && query.value.trim() !== '') {
      event.preventDefault()
      links[0]?.click()
    }
  }
  return (
    <search class="find">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search operations"
        placeholder="Search operations"
        autoComplete="off"
        spellcheck={false}
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value
        }}
        onKeyDown={press}
      />
      <kbd>/</kbd>
    </search>
  )
}

function Page() {
  if (fault.value !== '')
    return (
      <div class="notice bad" role="alert">
        {fault.value}
      </div>
    )
  if (reference.value === null) return <Skeleton />
  const at = place.value
  if (query.value.trim() !== '') return <Results reference={reference.value} />
  if (at === null) return <Overview reference={reference.value} />
  return isOperation(at) ? <OperationPage key={at.id} operation={at} /> : <TagPage tag={at} />
}

/** The place of the page while the document loads. */
function Skeleton() {
  return (
    <div class="stack skeleton-page" aria-busy="true">
      <p class="muted">Loading the reference…</p>
    </div>
  )
}
