import type { Endpoint } from './endpoint.ts'
import { createNearestOperations } from './nearest-operation.ts'
import { pathsOf } from './schemas.ts'

/** A documented operation that is not implemented, such as `GET /v1/externalEntities`. */
export type NotBuilt = `${Endpoint['method']} /${string}`

/** The routes of those operations whose paths have no parameter. */
export const fixedPathsOf = (notBuilt: readonly NotBuilt[]) =>
  notBuilt.flatMap((operation) => {
    const [method, path] = operation.split(' ') as [Endpoint['method'], string]
    return path.includes('{') ? [] : pathsOf(path).map((url) => ({ method, url }))
  })

/**
 * Creates the message of a 404, which distinguishes a documented but unimplemented operation from an unknown path, and
 * names the operations that an unknown one resembles.
 */
export function createNotFoundMessage(
  notBuilt: readonly NotBuilt[],
  operations: readonly Pick<Endpoint, 'method' | 'path'>[],
): (method: string, path: string) => string {
  const patterns = new Map<string, string[][]>()
  for (const operation of notBuilt) {
    const [method, documented] = operation.split(' ') as [string, string]
    for (const path of pathsOf(documented)) {
      const steps = path.split('/')
      const key = `${method} ${steps.length}`
      patterns.set(key, [...(patterns.get(key) ?? []), steps])
    }
  }
  const nearestOf = createNearestOperations(operations)
  const isNotBuilt = (method: string, path: string): boolean => {
    const steps = path.split('/')
    const alike = patterns.get(`${method} ${steps.length}`) ?? []
    return alike.some((pattern) =>
      pattern.every((step, at) => step === steps[at] || (step.startsWith(':') && steps[at] !== '')),
    )
  }
  return (asked, path) => {
    // HEAD answers like GET, including the length of the omitted text.
    const method = asked === 'HEAD' ? 'GET' : asked
    if (/^\/v\d\/v\d(\/|$)/.test(path))
      return `Resource not found: ${method} ${path} names the version twice. Give your client the base address without ${path.slice(0, 3)}.`
    if (isNotBuilt(method, path))
      return `Resource not found: ${method} ${path} is documented, but not part of this version. /docs/reference lists the available operations, and /docs/what-works lists them by area.`
    const near = nearestOf(method, path)
    const hint = near.length > 0 ? `: did you mean ${near.join(' or ')}?` : '.'
    return `Resource not found: ${method} ${path} does not exist${hint} /docs/reference lists the operations.`
  }
}
