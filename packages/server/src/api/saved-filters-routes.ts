/** REST: filters of lists, saved under a name for everybody who may see the environment. */

import type { FastifyInstance } from "fastify";
import { iso } from "../observe/run-view.ts";
import {
  FILTERED_LISTS,
  type FilteredList,
  SAVED_FILTERS_MAX,
  type SavedFilter,
  type SavedFilterStore,
  type StoreViews,
} from "../store/contract/index.ts";
import type { AuditTrail } from "./access/audit-trail.ts";
import { principalOf } from "./access/principal.ts";
import { type AccessRules, environmentOf } from "./access/rest-access.ts";
import { cutPage, type PageQuery } from "./list-page.ts";
import { nameText } from "./name-text.ts";
import { invalid, RestRefusal } from "./rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "./rest-schemas.ts";
import { dataOf, INSTANT, pageOf, shape, TEXT } from "./route-facts.ts";

export interface SavedFiltersRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: SavedFilterStore;
  views: StoreViews;
  now(): number;
}

const NAME_UNITS_MAX = 60;
const SEARCH_UNITS_MAX = 4_000;

const LIST = { type: "string", enum: FILTERED_LISTS, description: "The list it filters." } as const;
const SEARCH = {
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean"] },
  maxProperties: 30,
  description: "The parameters of the page that shows the list.",
} as const;
const FILTER = shape(
  { list: LIST, name: TEXT, search: SEARCH, savedBy: { ...TEXT, description: "The name of the key or person." }, savedAt: INSTANT },
  { title: "SavedFilter" },
);

interface SaveBody {
  list: FilteredList;
  name: string;
  search: Record<string, string | number | boolean>;
}

const READ = {
  summary: "List saved filters",
  querystring: closed({ ...PAGE_PARAMETERS, list: LIST }),
  response: { 200: pageOf(FILTER) },
} as const;
const SAVE = {
  summary: "Save a filter",
  description: `Replaces the filter of that name. A list has at most ${SAVED_FILTERS_MAX} in an environment. Everybody who may see the environment sees its text, and an erasure does not change it.`,
  querystring: closed({}),
  body: closed({ list: LIST, name: nameText(NAME_UNITS_MAX), search: SEARCH }, ["list", "name", "search"]),
  response: { 200: dataOf(FILTER) },
} as const;
const REMOVE = {
  summary: "Remove a saved filter",
  querystring: closed({}),
  response: { 200: dataOf(shape({ list: LIST, name: TEXT })) },
  errors: ["saved_filter_not_found"],
} as const;

export function registerSavedFiltersRoutes(app: FastifyInstance, { access, audit, store, views, now }: SavedFiltersRoutesParts): void {
  app.get<{ Querystring: PageQuery & { list?: FilteredList } }>(
    "/saved-filters",
    { config: { about: "environment" }, schema: READ },
    async (request) => {
      const { list } = request.query;
      const saved = await views.savedFilterList({ environmentId: environmentOf(access, request).id });
      const wanted = saved.filter((filter) => list === undefined || filter.list === list);
      const { items, next } = cutPage([...wanted.entries()], ([index]) => ({ rank: -index }), request.query);
      return { data: items.map(([, filter]) => filterView(filter)), page: { next } };
    },
  );

  app.put<{ Body: SaveBody }>("/saved-filters", { config: { about: "environment", repair: true }, schema: SAVE }, async (request) => {
    const environment = environmentOf(access, request);
    const { list, name } = request.body;
    const search = JSON.stringify(request.body.search);
    if (search.length > SEARCH_UNITS_MAX) throw invalid("search", `must have at most ${SEARCH_UNITS_MAX} characters as JSON`);
    const filter = { list, name, search, savedBy: principalOf(request).name, savedAt: now() };
    if (!(await store.savedFilterSet({ environmentId: environment.id, ...filter })))
      throw invalid("name", `would be one of more than ${SAVED_FILTERS_MAX} filters of this list`);
    // Not its text, which may be what somebody wants to be forgotten.
    const target = { kind: "saved-filter", id: list, name };
    await audit.note(request, { action: "saved_filter.saved", target, environment: environment.name, details: {} });
    return { data: filterView(filter) };
  });

  app.delete<{ Params: { list: string; name: string } }>(
    "/saved-filters/:list/:name",
    { config: { about: "environment", repair: true, byId: true }, schema: REMOVE },
    async (request) => {
      const environment = environmentOf(access, request);
      const { list, name } = request.params;
      if (!(await store.savedFilterDelete({ environmentId: environment.id, list: list as FilteredList, name }))) {
        const message = `No filter "${name}" of the list ${list} is saved in the environment "${environment.name}".`;
        throw new RestRefusal("saved_filter_not_found", message);
      }
      const target = { kind: "saved-filter", id: list, name };
      await audit.note(request, { action: "saved_filter.removed", target, environment: environment.name, details: {} });
      return { data: { list, name } };
    },
  );
}

function filterView({ search, savedAt, ...filter }: SavedFilter) {
  return { ...filter, search: JSON.parse(search) as unknown, savedAt: iso(savedAt) };
}
