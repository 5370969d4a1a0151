import { endpoints } from '#api/index'
import { errorKinds } from '#lib/error-kinds'
import type { Rule } from './repository.ts'

export const routeRule: Rule = {
  name: 'every route is tested and unique',
  why: 'An operation that no test calls by its address is not known to work.',
  check: (repository) => {
    const tests = repository
      .matching(/^(src|testing|examples)\/.*\.ts$/)
      .filter(({ path }) => /\.test\.ts$|^(testing|examples)\//.test(path))
    const text = tests.map((file) => file.text).join('\n')
    const seen = new Set<string>()
    return endpoints.flatMap((endpoint) => {
      const key = `${endpoint.method} ${endpoint.path}`
      const twice = seen.has(key) || seen.has(endpoint.operationId)
      seen.add(key).add(endpoint.operationId)
      const literal = endpoint.path.split('{')[0]!
      const called = text.includes(literal) || text.includes(endpoint.operationId)
      return [
        ...(twice ? [`${key} is declared twice`] : []),
        ...(called ? [] : [`${key} is named in no test`]),
      ]
    })
  },
}

export const argumentRule: Rule = {
  name: 'no route spreads a request into arguments',
  why: 'Unknown fields are ignored, not removed: a spread lets an `id` in the body replace the one of the path.',
  check: (repository) =>
    repository
      .matching(/^src\/api\/.*routes\.ts$/)
      .filter(({ text }) => /\.\.\.(body|query|params)\b/.test(text))
      .map(({ path }) => `${path} spreads a part of a request: pass it whole or name its fields`),
}

export const errorRule: Rule = {
  name: 'every error is thrown and documented',
  why: 'The vocabulary is closed: what is in it can happen, and what happens is in it.',
  check: (repository) => {
    const text = repository
      .matching(/^src\/.*\.ts$/)
      .filter(({ path }) => path !== 'src/lib/error-kinds.ts' && !path.endsWith('.test.ts'))
      .map((file) => file.text)
      .join('\n')
    const documented = repository.files.find(({ path }) => path === 'docs/errors.md')?.text ?? ''
    return Object.entries(errorKinds).flatMap(([name, { code }]) => [
      ...(new RegExp(`'${name}'`).test(text) ? [] : [`${name} (${code}) is never thrown: remove it`]),
      ...(documented.includes(`| ${code} |`)
        ? []
        : [`${name} (${code}) is not in docs/errors.md: npm run generate`]),
    ])
  },
}
