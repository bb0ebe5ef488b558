import { methodName } from './document.ts'

/** The HTTP method, in a colour of its own. */
export function Method({ of: method }: { of: string }) {
  return <span class={`method ${method}`}>{methodName(method)}</span>
}
