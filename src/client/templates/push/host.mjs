// Runs in a process of its own, beside the user's React Email component, and renders it on request.
// Request: { file }, then { id, props } each. Answer: { loaded }, then { id, html, text, subject } or { id, failed }.
import { createRequire, Module } from 'node:module'
import { dirname, resolve } from 'node:path'

let component, subjectOf, createElement, render

const send = process.send.bind(process)
delete process.send // the channel carries only our answers: packages write to it if they find it
process.setSourceMapsEnabled?.(true) // faults name the place in the component
process.on('message', async (request) => {
  try {
    send('file' in request ? { loaded: await load(request.file) } : await rendered(request))
  } catch (error) {
    send({ id: request.id, failed: described(error) })
  }
})
process.on('disconnect', () => process.exit())

async function load(file) {
  const require = createRequire(file)
  ;({ createElement } = packageOf(require, ['react'], 'createElement'))
  ;({ render } = packageOf(require, ['@react-email/render', '@react-email/components', 'react-email'], 'render'))
  const module = compiled(file, packageOf(require, ['esbuild'], 'buildSync'))
  component = module.default
  subjectOf = module.subject
  const isComponent = typeof component === 'function' || component?.$$typeof !== undefined // memo, forwardRef
  if (!isComponent) throw new Error('it has no component as default export')
  if (subjectOf !== undefined && typeof subjectOf !== 'function' && typeof subjectOf !== 'string') {
    throw new Error('`subject` must be a string or a function of the props')
  }
  const faults = []
  const taker = component.type ?? component.render ?? component // memo, forwardRef
  return {
    lacksProps: component.PreviewProps === undefined && taker.length > 0,
    sample: plain(component.PreviewProps ?? {}, '', 0, faults) ?? {},
    faults,
    hasSubject: subjectOf !== undefined,
  }
}

/** The first package of these that the project has and that has the export. */
function packageOf(require, names, wanted) {
  for (const name of names) {
    try {
      const module = require(name)
      const found = wanted in module ? module : module.default
      if (typeof found?.[wanted] === 'function') return found
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw Object.assign(new Error(`the project has no package ${names[0]}`), { missing: names[0] })
}

/** A component and the files of its project that it imports → its exports. Packages are loaded as they are. */
function compiled(file, { buildSync }) {
  const folder = dirname(file)
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    jsx: 'automatic',
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
    absWorkingDir: folder,
    outdir: folder, // positions are relative to it
  })
  const module = new Module(file)
  module.filename = file
  module.paths = Module._nodeModulePaths(folder)
  module._compile(outputFiles[0].text, file)
  return module.exports
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
  const [fault] = Array.isArray(error?.errors) ? error.errors.filter((each) => typeof each?.text === 'string') : [] // of esbuild
  const place = fault?.location
  const [message] = String(fault?.text ?? error?.message ?? error).split('\nRequire stack:')
  const notFound = /^Cannot find (?:module|package) ['"]([^'"]+)['"]/.exec(message)?.[1]
  return {
    message,
    name: fault === undefined ? (error?.name ?? 'Error') : 'Error',
    at: place ? `${resolve(place.file)}:${place.line}:${place.column + 1}` : placeIn(error?.stack),
    missing: error?.missing ?? notFound ?? null,
  }
}

/** The first place in a stack that is neither of a package nor of Node. */
function placeIn(stack) {
  const places = String(stack ?? '').matchAll(/[\s(]((?:file:\/\/)?\/[^\s()]+:\d+:\d+)/g)
  const isOwn = (place) => !/\/node_modules\/|\/host\.mjs:/.test(place)
  return [...places].map(([, place]) => place).find(isOwn) ?? null
}
