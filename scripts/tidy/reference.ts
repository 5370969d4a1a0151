import { endpoints, introduction } from '#api/index'
import { openApiDocument } from '#runtime/http/openapi/document'
import { catcherEndpoints } from '#sandbox/catcher/routes'
import { sandboxEndpoints } from '#sandbox/endpoints'
import { openLab } from '#sandbox/lab'
import { listenerEndpoints } from '#sandbox/listeners/routes'
import type { Rule } from './repository.ts'

type Node = { [key: string]: Node }

export const referenceRule: Rule = {
  name: 'every operation, parameter and field of the API is described',
  why: 'Customers read the reference first, and editors show its texts beside their code.',
  check: () => {
    const absent = undefined as never
    const lab = openLab({
      ctx: {},
      chains: [],
      saved: [],
      faults: { onChange: () => undefined, rulesOf: () => [] },
    } as never)
    const own = [
      ...sandboxEndpoints(() => absent),
      ...catcherEndpoints(absent, absent),
      ...listenerEndpoints(absent),
    ]
    const all = [...endpoints, ...own, ...lab.endpoints]
    const document = openApiDocument({ endpoints: all, introduction, servers: [] })
    const tags = new Set(introduction.tags.map(({ name }) => name))
    return [
      ...all
        .filter(({ tag }) => !tags.has(tag))
        .map(({ tag }) => `the tag ${tag} is not in the introduction`),
      ...undescribed(document as unknown as Node),
    ]
  },
}

/** A reference counts as described when its target is, which is in the same document. */
function undescribed(document: Node): string[] {
  const problems: string[] = []
  const visit = (node: Node, path: string): void => {
    if (typeof node !== 'object' || node === null) return
    const isField = /\/properties\/[^/]+$|\/components\/(schemas|headers)\/[^/]+$/.test(path)
    const isOperation = 'operationId' in node
    const isParameter = 'in' in node && 'schema' in node
    if ((isField || isOperation || isParameter) && !('$ref' in node) && !node['description'])
      problems.push(`${path} has no description`)
    for (const [key, child] of Object.entries(node)) if (key !== 'example') visit(child, `${path}/${key}`)
  }
  visit(document, '')
  return problems
}
