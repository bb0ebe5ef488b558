/** `Mozilla/5.0 (X11; Linux x86_64) … Firefox/140.0` → `Firefox on Linux`. */
export function browserOf(agent: string): string {
  // Edge and Opera put Chrome before their own name.
  const own = Math.max(agent.lastIndexOf('Edg/'), agent.lastIndexOf('OPR/'), 0)
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent.slice(own))?.[1]
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]
  if (browser === undefined) return agent.slice(0, 60) || 'Unknown'
  return system === undefined ? browser : `${NAMES[browser] ?? browser} on ${system}`
}

const NAMES: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }

/** True where the keys of a shortcut are named as Apple does. */
export const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform)
