import type { SearchEntry } from '../search-index.ts'
import { type Found, SearchIndex } from './find.ts'

let loading: Promise<SearchEntry[]> | null = null

/** The entries of the search index, loaded once; after a failure, the next call tries again. */
export function loadEntries(): Promise<SearchEntry[]> {
  loading ??= fetch(document.querySelector('search')!.dataset.index!).then((response) => response.json())
  loading.catch(() => {
    loading = null
  })
  return loading
}

let making: Promise<SearchIndex> | null = null

/** The index, made when the reader comes to the field. */
function openIndex(): Promise<SearchIndex> {
  making ??= loadEntries().then((entries) => new SearchIndex(entries))
  making.catch(() => {
    making = null
  })
  return making
}

/** Starts the search field. `/` focuses it, the arrow keys move through the results, Enter opens the first one, and
 *  Escape returns to the page. */
export function startSearch(): void {
  const search = document.querySelector('search')!
  const input = search.querySelector('input')!
  const results = document.getElementById('results')!
  const page = document.getElementById('page')!
  const linksOf = () => [...results.querySelectorAll('a')]

  const show = async () => {
    const query = input.value.trim()
    results.hidden = query === ''
    page.hidden = query !== ''
    document.body.classList.toggle('searching', query !== '')
    if (query === '') return
    const index = await openIndex()
    // The reader may have typed on while it was loading.
    if (query !== input.value.trim()) return
    const found = index.find(query)
    results.querySelector('[role=status]')!.textContent =
      found.length === 0 ? `Nothing matches “${query}”.` : `Results for “${query}”`
    results.querySelector('ol')!.replaceChildren(...found.map(groupOf))
  }
  const close = () => {
    input.value = ''
    void show()
  }

  search.hidden = false
  input.addEventListener('focus', () => void openIndex())
  input.addEventListener('input', () => void show())
  // A link within the same page only scrolls.
  results.addEventListener('click', (event) => event.target instanceof Element && event.target.closest('a') && close())
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    const isTyping = target instanceof Element && target.matches('input, textarea, select')
    if (key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      input.focus()
    }
    if (results.hidden || !(target instanceof Element) || (target !== input && !results.contains(target))) return
    const links = linksOf()
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (step !== undefined) {
      event.preventDefault()
      const next = links[links.findIndex((link) => link.contains(target)) + step]
      if (next !== undefined) next.focus()
      else if (step === -1) input.focus()
    }
    if (key === 'Enter' && target === input) {
      event.preventDefault()
      links[0]?.click()
    }
    if (key === 'Escape') {
      close()
      input.focus()
    }
  })
}

function groupOf({ page, sections }: Found): HTMLLIElement {
  const group = document.createElement('li')
  const title = document.createElement('h2')
  title.textContent = page
  group.append(title)
  for (const { path, heading, excerpt } of sections) {
    const link = document.createElement('a')
    link.href = path
    const name = document.createElement('span')
    name.className = 'strong'
    name.textContent = heading
    const words = document.createElement('span')
    words.className = 'muted'
    words.textContent = excerpt
    link.append(name, words)
    group.append(link)
  }
  return group
}
