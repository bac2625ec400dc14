/** The strongly connected components of a schema's graph (Tarjan): sets of nodes that lead to each other. */

import type { SchemaEdge, SchemaNode } from "./read-schema.ts";

export interface Component {
  nodes: SchemaNode[];
  /** Its nodes lead back to themselves. */
  isCyclic: boolean;
}

/** Each component after those that it leads to. Without recursion: a chain of references may be long. */
export function componentsOf(nodes: readonly SchemaNode[], follows: (edge: SchemaEdge) => boolean): Component[] {
  const order = new Map<SchemaNode, number>();
  const lowest = new Map<SchemaNode, number>();
  const open = new Set<SchemaNode>();
  const found: Component[] = [];
  for (const start of nodes) {
    if (order.has(start)) continue;
    const path: { node: SchemaNode; next: SchemaNode[] }[] = [];
    const enter = (node: SchemaNode) => {
      order.set(node, order.size);
      lowest.set(node, order.get(node) as number);
      open.add(node);
      path.push({ node, next: node.edges.filter(follows).map(({ to }) => to) });
    };
    const lower = (node: SchemaNode, to: number) => lowest.set(node, Math.min(lowest.get(node) as number, to));
    enter(start);
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const { node, next } = at;
      const to = next.pop();
      if (to) {
        if (!order.has(to)) enter(to);
        else if (open.has(to)) lower(node, order.get(to) as number);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) lower(above.node, lowest.get(node) as number);
      if (lowest.get(node) === order.get(node)) found.push(closed(node, open, follows));
    }
  }
  return found;
}

/** A set lists its members in the order they were added: those after the first node of a component belong to it. */
function closed(first: SchemaNode, open: Set<SchemaNode>, follows: (edge: SchemaEdge) => boolean): Component {
  const all = [...open];
  const nodes = all.slice(all.indexOf(first));
  for (const node of nodes) open.delete(node);
  return { nodes, isCyclic: nodes.length > 1 || first.edges.some((edge) => follows(edge) && edge.to === first) };
}
