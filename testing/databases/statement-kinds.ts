/**
 * The kinds of statements that a distributed PostgreSQL runs, where the rows of a tenant are together on one of several servers and
 * shared tables are on each. A statement is read by PostgreSQL's own grammar, and equalities of `entity_id` are followed through
 * joins, subqueries, CTEs and given rows.
 */
import { loadModule, parseSync } from 'libpg-query'
import { isPart, nameOf, type Part, partOf, partsOf, rowOf, stringsOf } from './statement-parts.ts'

await loadModule()

/**
 * `tenant`: each table of tenants is bound to one entity by a parameter, and the whole statement runs on its server. `chain`: it has
 * shared tables alone. `across`: it reads, or writes rows that name their tenants, on all servers: without locks, without recursion,
 * and with all tables joined on the entity.
 */
export type StatementKind = 'tenant' | 'chain' | 'across'

/** The column that names the tenant in each table and view of tenants: `id` in `entities`. */
export type TenantColumns = ReadonlyMap<string, string>

/** Where tables and views are: those of tenants, those of the coordinator alone, and all others, which each server has. */
export type PlacedTables = { tenantColumns: TenantColumns; ofCoordinator: ReadonlySet<string> }

/** Returns the kind, or a sentence that says why the statement is of none. */
export function kindOf(text: string, tables: PlacedTables): StatementKind | { refused: string } {
  const statement = parseSync(text).stmts?.[0]?.stmt as Part | undefined
  if (!statement) throw new Error(`no statement: ${text}`)
  const reading = new Reading(tables)
  reading.statement(statement, { rows: new Map(), ctes: new Map() })
  return reading.kind()
}

/** Members of the classes of tenants: places that name the same tenant in each row are in one class. */
type Ids = readonly number[]
/** The columns of some rows that name a tenant. */
type Columns = ReadonlyMap<string, Ids>
/** Rows that a statement reads from under one name. `isGiven` if no table is behind them that is distributed. */
type Rows = { columns: Columns; isGiven: boolean; places: Ids }
type Scope = { rows: Map<string, Rows>; ctes: Map<string, Rows>; outer?: Scope; select?: Select }
/** One `select`, with the tables of tenants in it and below. */
type Select = {
  places: number[]
  tiedToGiven: boolean
  isRecursive: boolean
  isLocking: boolean
  writes: boolean
}
/** The columns of a result in order. */
type Output = { names: (string | undefined)[]; ids: (Ids | undefined)[] }

/** The class of the parameters of the statement. */
const parameter = 0
const noOutput: Output = { names: [], ids: [] }
const functionsOfTime = new Set(['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp'])
const volatileFunctions = new Set([
  'clock_timestamp',
  'gen_random_uuid',
  'random',
  'nextval',
  'pg_control_system',
])

class Reading {
  private readonly classes = [parameter]
  private readonly tablesOfTenants: number[] = []
  private readonly selects: Select[] = []
  /** Groups of rows that one `from` joins. */
  private readonly joined: Ids[] = []
  private readonly faults: string[] = []
  private readonly seen = new Set<Part>()

  private readonly tables: PlacedTables
  private ofCoordinator: string | undefined

  constructor(tables: PlacedTables) {
    this.tables = tables
  }

  kind(): StatementKind | { refused: string } {
    const [fault] = this.faults
    if (fault !== undefined) return { refused: fault }
    if (this.tablesOfTenants.length === 0) return 'chain'
    if (this.ofCoordinator !== undefined)
      return {
        refused: `reads ${this.ofCoordinator}, which the coordinator alone has, beside rows of tenants`,
      }
    const isFree = (id: number) => this.classOf(id) !== this.classOf(parameter)
    if (!this.tablesOfTenants.some(isFree)) return 'tenant'
    const ofTables = new Set(this.tablesOfTenants.map((id) => this.classOf(id)))
    const classesOf = (ids: Ids) =>
      new Set(ids.map((id) => this.classOf(id)).filter((each) => ofTables.has(each)))
    const free = this.selects.filter(({ places }) => places.some(isFree))
    const refusals: [boolean, string][] = [
      [free.some((select) => select.isLocking), 'locks rows of several tenants'],
      [free.some((select) => select.isRecursive), 'recurses over rows of several tenants'],
      [free.some((select) => select.writes), 'writes rows of several tenants in a part of the statement'],
      [
        free.some((select) => select.tiedToGiven),
        'looks up rows of several tenants for each row that is given',
      ],
      [this.joined.some((ids) => classesOf(ids).size > 1), 'joins tables of tenants without their entity_id'],
    ]
    const found = refusals.find(([isRefused]) => isRefused)
    return found ? { refused: found[1] } : 'across'
  }

  statement(statement: Part, scope: Scope): Output {
    const select = partOf(statement, 'SelectStmt')
    if (select) return this.select(select, scope)
    const insert = partOf(statement, 'InsertStmt')
    if (insert) return this.insert(insert, scope)
    const change = partOf(statement, 'UpdateStmt') ?? partOf(statement, 'DeleteStmt')
    if (change) return this.change(change, scope)
    throw new Error(`no kind of statement is known for ${Object.keys(statement).join(', ')}`)
  }

  private select(select: Part, outer: Scope): Output {
    const own = this.open(outer)
    const { scope } = own
    this.ctes(select, scope)
    if (partOf(select, 'larg')) {
      const left = this.select(partOf(select, 'larg')!, scope)
      const right = this.select(partOf(select, 'rarg')!, scope)
      this.close(own)
      return {
        names: left.names,
        ids: left.ids.map((ids, index) => merged(ids, right.ids[index])),
      }
    }
    for (const item of partsOf(select, 'fromClause')) this.from(item, scope)
    this.noteJoin(scope)
    this.condition(partOf(select, 'whereClause'), scope)
    own.select.isLocking = partsOf(select, 'lockingClause').length > 0
    for (const name of [
      'targetList',
      'groupClause',
      'sortClause',
      'havingClause',
      'limitCount',
      'valuesLists',
    ])
      this.expression(select[name], scope)
    const output =
      partsOf(select, 'valuesLists').length > 0
        ? this.values(select)
        : this.output(select, 'targetList', scope)
    this.close(own)
    return isLimited(select) ? this.apart(output) : output
  }

  /** One row of values names one tenant by a parameter; several rows name one each. */
  private values(select: Part): Output {
    const lists = partsOf(select, 'valuesLists')
    const width = partsOf(partOf(lists[0]!, 'List')!, 'items').length
    const ids = Array.from({ length: width }, () => (lists.length === 1 ? [parameter] : [this.make()]))
    return { names: ids.map((_, index) => `column${index + 1}`), ids }
  }

  /** A result that is made before the rest of the statement: what binds its tables does not bind those that are joined with it. */
  private apart(output: Output): Output {
    const isGiven = (ids: Ids) => ids.every((id) => id === parameter)
    return { ...output, ids: output.ids.map((ids) => (ids && !isGiven(ids) ? [this.make()] : ids)) }
  }

  private insert(insert: Part, outer: Scope): Output {
    const own = this.open(outer)
    const { scope } = own
    this.ctes(insert, scope)
    const source = partOf(insert, 'selectStmt')
      ? this.statement(partOf(insert, 'selectStmt')!, scope)
      : noOutput
    const target = this.target(partOf(insert, 'relation')!, scope)
    const names = partsOf(insert, 'cols').map((column) => nameOf(column))
    names.forEach((name, index) => {
      const ids = source.ids[index]
      const column = target.columns.get(name)
      if (column && ids) this.join(column, ids)
    })
    const conflict = partOf(insert, 'onConflictClause')
    if (conflict) {
      scope.rows.set('excluded', target)
      if (callsAny(conflict, functionsOfTime)) this.faults.push('calls a function of time in "on conflict"')
      this.condition(partOf(conflict, 'whereClause'), scope)
      this.expression(conflict['targetList'], scope)
    }
    return this.returned(insert, own)
  }

  private change(change: Part, outer: Scope): Output {
    const own = this.open(outer)
    const { scope } = own
    this.ctes(change, scope)
    this.target(partOf(change, 'relation')!, scope)
    for (const item of [...partsOf(change, 'fromClause'), ...partsOf(change, 'usingClause')])
      this.from(item, scope)
    this.noteJoin(scope)
    if (callsAny([change['targetList'], change['whereClause']], volatileFunctions))
      this.faults.push('changes rows by a function whose result differs on each server')
    this.condition(partOf(change, 'whereClause'), scope)
    this.expression(change['targetList'], scope)
    return this.returned(change, own)
  }

  private returned(statement: Part, own: { scope: Scope; select: Select }): Output {
    const clause = partOf(statement, 'returningClause')
    this.expression(clause?.['exprs'], own.scope)
    const output = clause ? this.output(clause, 'exprs', own.scope) : noOutput
    own.select.writes = own.scope.outer?.outer !== undefined
    this.close(own)
    return output
  }

  private open(outer: Scope): { scope: Scope; select: Select } {
    const select: Select = {
      places: [],
      tiedToGiven: false,
      isRecursive: false,
      isLocking: false,
      writes: false,
    }
    return { select, scope: { rows: new Map(), ctes: new Map(outer.ctes), outer, select } }
  }

  private close({ scope, select }: { scope: Scope; select: Select }): void {
    this.selects.push(select)
    scope.outer?.select?.places.push(...select.places)
  }

  private ctes(statement: Part, scope: Scope): void {
    const clause = partOf(statement, 'withClause')
    if (!clause) return
    for (const each of partsOf(clause, 'ctes')) {
      const cte = partOf(each, 'CommonTableExpr')!
      const names = stringsOf(cte, 'aliascolnames')
      const query = partOf(cte, 'ctequery')!
      const inner: Scope = {
        rows: new Map(),
        ctes: scope.ctes,
        outer: scope,
        ...(scope.select && { select: scope.select }),
      }
      if (clause['recursive'] !== true) {
        const output = this.statement(query, inner)
        const isApart = cte['ctematerialized'] === 'CTEMaterializeAlways' || !partOf(query, 'SelectStmt')
        scope.ctes.set(nameOf(cte, 'ctename'), rowsOf(isApart ? this.apart(output) : output, names, true))
        continue
      }
      const select: Select = {
        places: [],
        tiedToGiven: false,
        isRecursive: true,
        isLocking: false,
        writes: false,
      }
      const recursing: Scope = { rows: new Map(), ctes: new Map(scope.ctes), outer: inner, select }
      const first = partOf(partOf(query, 'SelectStmt')!, 'larg')
      if (first)
        recursing.ctes.set(nameOf(cte, 'ctename'), rowsOf(this.select(first, recursing), names, true))
      select.isRecursive = first !== undefined
      scope.ctes.set(nameOf(cte, 'ctename'), rowsOf(this.statement(query, recursing), names, true))
      this.close({ scope: recursing, select })
    }
  }

  private from(item: Part, scope: Scope): void {
    const table = partOf(item, 'RangeVar')
    if (table) return void this.table(table, scope)
    const join = partOf(item, 'JoinExpr')
    if (join) {
      this.from(partOf(join, 'larg')!, scope)
      this.from(partOf(join, 'rarg')!, scope)
      this.condition(partOf(join, 'quals'), scope)
      for (const name of stringsOf(join, 'usingClause')) {
        const ids = [...scope.rows.values()].flatMap(({ columns }) => columns.get(name) ?? [])
        this.join(ids, ids)
      }
      return
    }
    const subselect = partOf(item, 'RangeSubselect')
    if (subselect) {
      const alias = partOf(subselect, 'alias')
      const before = this.tablesOfTenants.length
      const output = this.statement(partOf(subselect, 'subquery')!, scope)
      const query = partOf(partOf(subselect, 'subquery')!, 'SelectStmt')
      const isGiven = this.tablesOfTenants.length === before || isLimited(query)
      const rows = rowsOf(output, alias ? stringsOf(alias, 'colnames') : [], isGiven)
      scope.rows.set(alias ? nameOf(alias, 'aliasname') : `#${scope.rows.size}`, rows)
      return
    }
    const call = partOf(item, 'RangeFunction')
    if (!call) throw new Error(`unknown part of "from": ${Object.keys(item).join(', ')}`)
    this.expression(call['functions'], scope)
    const alias = partOf(call, 'alias')
    const names = [
      ...(alias ? [nameOf(alias, 'aliasname'), ...stringsOf(alias, 'colnames')] : []),
      ...partsOf(call, 'coldeflist').map((column) => nameOf(partOf(column, 'ColumnDef')!, 'colname')),
    ]
    const columns = new Map(names.map((name) => [name, [this.make()]]))
    scope.rows.set(names[0] ?? `#${scope.rows.size}`, { columns, isGiven: true, places: [] })
  }

  private table(table: Part, scope: Scope): Rows {
    const name = nameOf(table, 'relname')
    const alias = partOf(table, 'alias')
    const shown = alias ? nameOf(alias, 'aliasname') : name
    const cte = scope.ctes.get(name)
    if (cte) {
      const names = alias ? stringsOf(alias, 'colnames') : []
      const columns = names.length === 0 ? cte.columns : renamed(cte.columns, names)
      const rows = { ...cte, columns }
      scope.rows.set(shown, rows)
      return rows
    }
    if (this.tables.ofCoordinator.has(name)) this.ofCoordinator = name
    const column = this.tables.tenantColumns.get(name)
    if (column === undefined) {
      const rows: Rows = { columns: new Map(), isGiven: false, places: [] }
      scope.rows.set(shown, rows)
      return rows
    }
    const id = this.make()
    this.tablesOfTenants.push(id)
    scope.select?.places.push(id)
    const rows: Rows = { columns: new Map([[column, [id]]]), isGiven: false, places: [id] }
    scope.rows.set(shown, rows)
    return rows
  }

  private target(relation: Part, scope: Scope): Rows {
    return this.table(relation, { ...scope, ctes: new Map() })
  }

  private noteJoin(scope: Scope): void {
    this.joined.push([...scope.rows.values()].flatMap(({ places }) => places))
  }

  /** Follows the equalities that hold for all rows, and looks into the rest. */
  private condition(condition: Part | undefined, scope: Scope): void {
    if (!condition) return
    const bool = partOf(condition, 'BoolExpr')
    if (bool?.['boolop'] === 'AND_EXPR') {
      for (const each of partsOf(bool, 'args')) this.condition(each, scope)
      return
    }
    const compared = partOf(condition, 'A_Expr')
    const isEquality =
      compared &&
      ((compared['kind'] === 'AEXPR_OP' && stringsOf(compared, 'name')[0] === '=') ||
        compared['kind'] === 'AEXPR_NOT_DISTINCT')
    if (compared && isEquality)
      this.equal(rowOf(partOf(compared, 'lexpr')!), rowOf(partOf(compared, 'rexpr')!), scope)
    if (compared?.['kind'] === 'AEXPR_OP_ANY' && isListOfParameters(partOf(compared, 'rexpr')!)) {
      const one = this.tenantOf(partOf(compared, 'lexpr')!, scope)
      if (one) this.join(one, [parameter])
    }
    const link = partOf(condition, 'SubLink')
    if (link?.['subLinkType'] === 'ANY_SUBLINK' && stringsOf(link, 'operName').length === 0) {
      this.seen.add(link)
      const output = this.statement(partOf(link, 'subselect')!, scope)
      rowOf(partOf(link, 'testexpr')!).forEach((each, index) => {
        this.expression(each, scope)
        const [left, right] = [this.tenantOf(each, scope), output.ids[index]]
        if (left && right) this.join(left, right)
      })
      return
    }
    this.expression(condition, scope)
  }

  private equal(left: readonly Part[], right: readonly Part[], scope: Scope): void {
    left.forEach((each, index) => {
      const other = right[index]
      if (!other) return
      const [one, two] = [this.tenantOf(each, scope), this.tenantOf(other, scope)]
      if (one && two) this.join(one, two)
    })
  }

  /** Looks for subqueries, and for columns of given rows outside. */
  private expression(expression: unknown, scope: Scope): void {
    if (Array.isArray(expression)) for (const each of expression) this.expression(each, scope)
    if (!isPart(expression)) return
    const link = partOf(expression, 'SubLink')
    if (link) {
      if (this.seen.has(link)) return
      this.seen.add(link)
      this.statement(partOf(link, 'subselect')!, scope)
      this.expression(link['testexpr'], scope)
      return
    }
    const column = partOf(expression, 'ColumnRef')
    if (column) return void this.columnOf(column, scope)
    for (const each of Object.values(expression)) this.expression(each, scope)
  }

  /** The members of the class whose tenant the expression names, if it names one. */
  private tenantOf(expression: Part, scope: Scope): Ids | undefined {
    if (partOf(expression, 'ParamRef') || partOf(expression, 'A_Const')) return [parameter]
    const cast = partOf(expression, 'TypeCast')
    if (cast) return this.tenantOf(partOf(cast, 'arg')!, scope)
    const call = partOf(expression, 'FuncCall')
    if (call && ['min', 'max'].includes(stringsOf(call, 'funcname').at(-1)!))
      return this.tenantOf(partsOf(call, 'args')[0]!, scope)
    const column = partOf(expression, 'ColumnRef')
    return column && this.columnOf(column, scope)
  }

  private columnOf(column: Part, scope: Scope): Ids | undefined {
    const names = stringsOf(column, 'fields')
    const name = names.at(-1)
    const alias = names.length > 1 ? names.at(-2) : undefined
    if (name === undefined) return undefined
    const crossed: Select[] = []
    for (let at: Scope | undefined = scope; at; at = at.outer) {
      const rows =
        alias === undefined
          ? [...at.rows.values()].find(({ columns }) => columns.has(name))
          : at.rows.get(alias)
      if (rows) {
        if (rows.isGiven) for (const select of crossed) if (select !== at.select) select.tiedToGiven = true
        return rows.columns.get(name)
      }
      if (at.select) crossed.push(at.select)
    }
    return undefined
  }

  private output(statement: Part, list: string, scope: Scope): Output {
    const output: { names: (string | undefined)[]; ids: (Ids | undefined)[] } = { names: [], ids: [] }
    for (const each of partsOf(statement, list)) {
      const target = partOf(each, 'ResTarget')!
      const value = partOf(target, 'val')!
      const column = partOf(value, 'ColumnRef')
      const names = column ? stringsOf(column, 'fields') : []
      if (column && partsOf(column, 'fields').some((field) => partOf(field, 'A_Star'))) {
        const sources = names[0] === undefined ? [...scope.rows.values()] : [scope.rows.get(names[0])]
        for (const source of sources)
          for (const [name, ids] of source?.columns ?? []) {
            output.names.push(name)
            output.ids.push(ids)
          }
        continue
      }
      output.names.push((target['name'] as string | undefined) ?? names.at(-1))
      output.ids.push(this.tenantOf(value, scope))
    }
    return output
  }

  private make(): number {
    this.classes.push(this.classes.length)
    return this.classes.length - 1
  }

  private classOf(id: number): number {
    const parent = this.classes[id]!
    return parent === id ? id : this.classOf(parent)
  }

  private join(left: Ids, right: Ids): void {
    for (const one of left) for (const two of right) this.classes[this.classOf(one)] = this.classOf(two)
  }
}

/** An array of parameters, as `any(array[$1, $1])` has it to keep the planner from an index. */
function isListOfParameters(expression: Part): boolean {
  const list = partOf(partOf(partOf(expression, 'TypeCast') ?? {}, 'arg') ?? expression, 'A_ArrayExpr')
  return list !== undefined && partsOf(list, 'elements').every((each) => partOf(each, 'ParamRef'))
}

const isLimited = (select: Part | undefined) => Boolean(select?.['limitCount'] ?? select?.['limitOffset'])

const merged = (left: Ids | undefined, right: Ids | undefined): Ids | undefined =>
  left || right ? [...(left ?? []), ...(right ?? [])] : undefined

function rowsOf({ names, ids }: Output, aliases: readonly string[], isGiven: boolean): Rows {
  const columns = new Map<string, Ids>()
  names.forEach((name, index) => {
    const shown = aliases[index] ?? name
    const own = ids[index]
    if (shown !== undefined && own) columns.set(shown, own)
  })
  return { columns, isGiven, places: [...columns.values()].flat().filter((id) => id !== parameter) }
}

/** Columns of a CTE under other names; those that are no tenants lose their place, which no statement needs. */
const renamed = (columns: Columns, names: readonly string[]): Columns =>
  new Map([...columns.values()].map((ids, index) => [names[index] ?? '', ids]))

/** Whether a part calls one of the functions, in whatever depth. */
function callsAny(part: unknown, functions: ReadonlySet<string>): boolean {
  if (Array.isArray(part)) return part.some((each) => callsAny(each, functions))
  if (!isPart(part)) return false
  const call = partOf(part, 'FuncCall')
  if (call && functions.has(stringsOf(call, 'funcname').at(-1) ?? '')) return true
  return Object.values(part).some((each) => callsAny(each, functions))
}
