// Runs in a process of its own, beside the user's React Email component, and renders it on request.
// Request: { file }, then { id, props } each. Answer: { loaded }, then { id, html, text, subject } or { id, failed }.
import { dirname } from 'node:path'

let component, subjectOf, createElement, render

process.on('message', async (request) => {
  try {
    process.send('file' in request ? { loaded: await load(request.file) } : await rendered(request))
  } catch (error) {
    process.send({ id: request.id, failed: described(error) })
  }
})
process.on('disconnect', () => process.exit())

async function load(file) {
  const folder = dirname(file)
  ;({ createElement } = await packageOf(folder, ['react'], 'createElement'))
  ;({ render } = await packageOf(folder, ['@react-email/render', '@react-email/components', 'react-email'], 'render'))
  const module = await import(file)
  component = module.default
  subjectOf = module.subject
  const isComponent = typeof component === 'function' || component?.$$typeof !== undefined // memo, forwardRef
  if (!isComponent) throw new Error('it has no component as default export')
  if (subjectOf !== undefined && typeof subjectOf !== 'function' && typeof subjectOf !== 'string') {
    throw new Error('`subject` must be a string or a function of the props')
  }
  const faults = []
  return {
    sample: plain(component.PreviewProps ?? {}, '', 0, faults) ?? {},
    faults,
    hasSubject: subjectOf !== undefined,
  }
}

/** The first package of these that the project has and that has the export. */
async function packageOf(folder, names, wanted) {
  for (const name of names) {
    let path
    try {
      path = Bun.resolveSync(name, folder)
    } catch {
      continue
    }
    const module = await import(path)
    const found = wanted in module ? module : module.default
    if (typeof found?.[wanted] === 'function') return found
  }
  throw Object.assign(new Error(`the project has no package ${names[0]}`), { missing: names[0] })
}

async function rendered({ id, props }) {
  const element = createElement(component, props)
  const html = await render(element)
  const text = await render(element, { plainText: true })
  const subject = typeof subjectOf === 'function' ? String(await subjectOf(props)) : null
  return { id, html, text, subject, written: typeof subjectOf === 'string' ? subjectOf : null }
}

/** Value → the same as JSON. What JSON has no type for is added to `faults`, as is what is too deep or too large. */
function plain(value, path, depth, faults) {
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  if (isNumber || typeof value === 'string' || typeof value === 'boolean') return value
  if (value === undefined) return undefined
  if (depth > 8) faults.push({ path, type: 'nested more than 8 deep' })
  else if (Array.isArray(value))
    return value.slice(0, 100).map((each, at) => plain(each, `${path}[${at}]`, depth + 1, faults))
  else if (
    value !== null &&
    typeof value === 'object' &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  ) {
    if (value.$$typeof !== undefined) faults.push({ path, type: 'a React element' })
    else {
      const entries = Object.entries(value).map(([key, each]) => [
        key,
        plain(each, path ? `${path}.${key}` : key, depth + 1, faults),
      ])
      return Object.fromEntries(entries.filter(([, each]) => each !== undefined))
    }
  } else
    faults.push({
      path,
      type: value === null ? 'null' : typeof value === 'object' ? `a ${value.constructor?.name}` : `a ${typeof value}`,
    })
  return undefined
}

/** Error → what the user needs to find it. `at` has the place in the user's code: `file:line:column`. */
function described(error) {
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const { position } = first
  const at = position ? `${position.file}:${position.line}:${position.column}` : placeIn(first.stack)
  const notFound = /^Cannot find (?:module|package) ['"]([^'"]+)['"]/.exec(first.message)?.[1]
  return {
    message: String(first.message ?? first),
    name: first.name ?? 'Error',
    at,
    missing: first.missing ?? notFound ?? null,
  }
}

function placeIn(stack) {
  const places = [...String(stack ?? '').matchAll(/\(?((?:file:\/\/)?\/[^\s()]+:\d+:\d+)\)?/g)].map(
    ([, place]) => place,
  )
  return places.find((place) => !place.includes('/node_modules/') && !place.includes('[eval]')) ?? null
}
