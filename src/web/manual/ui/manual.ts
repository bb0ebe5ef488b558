import type { SearchEntry } from '../bundle.ts'
import { find } from './find.ts'

/** Applies the dashboard's colour setting, and searches. Without this script every page is complete. */

const MAX_RESULTS = 30

try {
  const theme = window.localStorage.getItem('postrider.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is not available: use the system's colours.
}

document.addEventListener('DOMContentLoaded', () => {
  const search = document.querySelector('search')!
  const input = search.querySelector('input')!
  const results = document.getElementById('results')!
  const article = document.querySelector('article')!
  let index: Promise<SearchEntry[]> | null = null
  const load = () => {
    index ??= fetch(search.dataset.index!).then((response) => response.json())
    index.catch(() => {
      index = null
    })
    return index
  }
  const show = async () => {
    const query = input.value.trim()
    results.hidden = query === ''
    article.hidden = query !== ''
    if (query === '') return
    const found = find(query, await load())
    if (query !== input.value.trim()) return
    const count = found.length === 1 ? '1 section' : `${found.length} sections`
    const more = found.length > MAX_RESULTS ? `, the best ${MAX_RESULTS} are shown` : ''
    results.querySelector('[role=status]')!.textContent =
      `${found.length === 0 ? 'No sections' : count} match “${query}”${more}.`
    results.querySelector('ol')!.replaceChildren(...found.slice(0, MAX_RESULTS).map(item))
  }

  search.hidden = false
  input.addEventListener('focus', () => void load())
  input.addEventListener('input', () => void show())
  results.addEventListener('click', (event) => {
    if (!(event.target instanceof HTMLAnchorElement)) return
    // A link within the same page only scrolls.
    input.value = ''
    void show()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      input.focus()
    }
    if (event.key === 'Escape' && isTyping) {
      input.value = ''
      void show()
    }
  })
})

function item({ path, page, heading, excerpt }: ReturnType<typeof find>[number]): HTMLLIElement {
  const line = document.createElement('li')
  const link = document.createElement('a')
  link.href = path
  link.textContent = page === heading ? page : `${page}: ${heading}`
  const words = document.createElement('p')
  words.textContent = excerpt
  line.append(link, words)
  return line
}
